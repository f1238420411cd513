package dev.writ.cli.term;

/**
 * One line on stderr that says how far long work has come; it is shown only on a terminal, and
 * removed when the work ends, successfully or not.
 */
public final class Progress implements AutoCloseable {
  private static final long REDRAW_NANOS = 100_000_000;

  private final Terminal terminal;
  private final boolean shown;
  private final int width;
  private final Thread atExit;
  private long drawnAt;
  private boolean drawn;

  public Progress(Terminal terminal) {
    this.terminal = terminal;
    shown = terminal.errIsTerminal();
    width = terminal.width();
    atExit = new Thread(this::erase);
    if (shown) {
      // Ctrl-C must not leave half a line in front of the prompt.
      Runtime.getRuntime().addShutdownHook(atExit);
    }
  }

  /** Says what is being done; drawn at most ten times a second. */
  public void step(String what) {
    long now = System.nanoTime();
    if (drawn && now - drawnAt < REDRAW_NANOS) {
      return;
    }
    draw(what, now);
  }

  /** As {@link #step(String)}, with a count; the last one is always drawn. */
  public void step(String what, long done, long total) {
    long now = System.nanoTime();
    if (drawn && done < total && now - drawnAt < REDRAW_NANOS) {
      return;
    }
    long percent = total <= 0 ? 100 : done * 100 / total;
    draw(what + "  " + done + " of " + total + "  " + percent + " %", now);
  }

  private synchronized void draw(String what, long now) {
    if (shown) {
      terminal.redrawErr(Text.cut(Text.printable(what), width - 1));
      drawnAt = now;
      drawn = true;
    }
  }

  private synchronized void erase() {
    if (drawn) {
      terminal.redrawErr("");
      drawn = false;
    }
  }

  @Override
  public void close() {
    erase();
    if (shown) {
      try {
        Runtime.getRuntime().removeShutdownHook(atExit);
      } catch (IllegalStateException e) {
        // the process is ending already
      }
    }
  }
}
