package dev.writ.cli.term;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The streams that a command talks to, and what they can show. Data goes to {@link #out}, messages
 * for people to {@link #err}.
 */
public final class Terminal {
  private static final int WIDTH_DEFAULT = 80;
  private static final int WIDTH_MIN = 40;

  private final InputStream in;
  private final TerminalSink out;
  private final List<VisibleStream> shown = new ArrayList<>();
  private final PrintStream outStream;
  private final PrintStream errStream;
  private final OutputStream errTerminal;
  private final boolean inIsTerminal;
  private final boolean outIsTerminal;
  private final boolean errIsTerminal;
  private final boolean colour;
  private final int width;
  private boolean csv;
  private Optional<Path> namedHome = Optional.empty();
  private BooleanSupplier isGone = () -> false;

  /**
   * @param terminals which streams are terminals: "in", "out", "err", separated by commas
   * @param environment where COLUMNS, NO_COLOR and TERM are looked up
   */
  public Terminal(
      InputStream in,
      OutputStream out,
      OutputStream err,
      String terminals,
      Map<String, String> environment) {
    this.in = in;
    this.out = new TerminalSink(out);
    List<String> names = List.of(terminals.split(","));
    this.inIsTerminal = names.contains("in");
    this.outIsTerminal = names.contains("out");
    this.errIsTerminal = names.contains("err");
    this.outStream =
        new PrintStream(visible(this.out, outIsTerminal), false, StandardCharsets.UTF_8);
    this.errStream = new FreshErrors(visible(err, errIsTerminal));
    this.errTerminal = err;
    // https://no-color.org: present and not empty, whatever its value.
    this.colour =
        environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !"dumb".equals(environment.get("TERM"));
    this.width = width(environment.get("COLUMNS"));
  }

  /** The terminal of this process; the launcher says which streams are terminals. */
  public static Terminal ofProcess() {
    Terminal terminal =
        new Terminal(
            System.in,
            new FileOutputStream(FileDescriptor.out),
            new FileOutputStream(FileDescriptor.err),
            System.getProperty("writ.terminals", ""),
            System.getenv());
    terminal.isGone = () -> PipeReader.isGone(1);
    return terminal;
  }

  private OutputStream visible(OutputStream to, boolean isTerminal) {
    if (!isTerminal) {
      return to;
    }
    VisibleStream stream = new VisibleStream(to);
    shown.add(stream);
    return stream;
  }

  /**
   * Replaces the line that the cursor of {@link #err} is in; only a line of {@link Progress} is
   * replaced.
   */
  void redrawErr(String line) {
    errStream.flush();
    try {
      errTerminal.write(("\r\u001b[K" + Text.printable(line)).getBytes(StandardCharsets.UTF_8));
      errTerminal.flush();
    } catch (IOException e) {
      return; // nobody is there to see it
    }
  }

  /**
   * Draws these lines in place of all that {@link #out} shows, which is a terminal.
   *
   * @return whether somebody sees it
   */
  public boolean redraw(List<String> lines) {
    outStream.flush();
    try {
      out.write("\u001b[H\u001b[2J".getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      return false;
    }
    lines.forEach(outStream::println);
    return !outStream.checkError();
  }

  private static int width(String columns) {
    try {
      return columns == null ? WIDTH_DEFAULT : Math.max(WIDTH_MIN, Integer.parseInt(columns));
    } catch (NumberFormatException e) {
      return WIDTH_DEFAULT;
    }
  }

  public InputStream in() {
    return in;
  }

  /** The data directory that the user named, which commands that are printed for pasting name. */
  public Optional<Path> namedHome() {
    return namedHome;
  }

  public void namedHome(Path home) {
    namedHome = Optional.of(home);
  }

  /** Cells in a line. */
  public int width() {
    return width;
  }

  /** Whether somebody can be asked: there is a terminal to read from, and one to ask on. */
  public boolean canAsk() {
    return inIsTerminal && errIsTerminal;
  }

  public boolean outIsTerminal() {
    return outIsTerminal;
  }

  public boolean errIsTerminal() {
    return errIsTerminal;
  }

  /** Whether what goes to {@link #out} may have colours. */
  public boolean outHasColour() {
    return colour && outIsTerminal;
  }

  /** Whether what goes to {@link #err} may have colours. */
  public boolean errHasColour() {
    return colour && errIsTerminal;
  }

  /** For data. Buffered: {@link #finish} writes it out. */
  public PrintStream out() {
    return outStream;
  }

  /**
   * For messages beside the data. Whether it failed is told of what was written since that was last
   * asked.
   */
  public PrintStream err() {
    return errStream;
  }

  /** The text as {@link #out} may show it in this style. */
  public String paint(Style style, String text) {
    return outHasColour() ? style.paint(text) : text;
  }

  /** The text as {@link #err} may show it in this style. */
  public String paintErr(Style style, String text) {
    return errHasColour() ? style.paint(text) : text;
  }

  /** From now on tables are printed as CSV. */
  public void csv(boolean value) {
    csv = value;
  }

  public boolean csv() {
    return csv;
  }

  /**
   * Prints the table at the terminal's width; into a pipe nothing is cut, lines are as long as they
   * are.
   */
  public void print(Table table) {
    if (csv) {
      outStream.print(table.csvHead() + "\n");
      table.csvRows().forEach(line -> outStream.print(line + "\n"));
      return;
    }
    table.lines(cells(), outHasColour()).forEach(outStream::println);
    List<String> leftOut = table.leftOut(cells());
    if (!leftOut.isEmpty()) {
      outStream.flush();
      String said = "left out at this width: " + String.join(", ", leftOut);
      errStream.println(paintErr(Style.DIM, said));
    }
  }

  /** The same, or what is to be said where there is nothing in it. */
  public void print(Table table, String whenEmpty) {
    if (table.isEmpty() && !csv) {
      errStream.println(whenEmpty);
    } else {
      print(table);
    }
  }

  /**
   * Prints the rows that came since the last time, without heads, and at once.
   *
   * @return whether somebody reads it: false once a pipe's reader has left
   */
  public boolean printMore(Table table) {
    if (csv) {
      table.drainCsv().forEach(line -> outStream.print(line + "\n"));
    } else {
      table.drain(cells(), outHasColour()).forEach(outStream::println);
    }
    return !outStream.checkError();
  }

  /** Whether somebody may read what is printed, also while nothing is. */
  public boolean isRead() {
    return !isGone.getAsBoolean();
  }

  private int cells() {
    return outIsTerminal ? width : Integer.MAX_VALUE;
  }

  /**
   * Writes out what is buffered.
   *
   * @return the first failure of any output so far, or null; a reader that closes its end early,
   *     such as {@code head}, is no failure
   */
  public IOException finish() {
    outStream.flush();
    errStream.flush();
    for (VisibleStream stream : shown) {
      try {
        stream.finish();
      } catch (IOException e) {
        return out.failure();
      }
    }
    return out.failure();
  }
}
