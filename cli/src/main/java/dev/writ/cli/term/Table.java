package dev.writ.cli.term;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A table with aligned columns and a thin line under its heads, or the same as CSV. It fits the
 * width it is given in this order: cells in their brief form, wide columns narrower, columns left
 * out that can be done without, and at last every column narrower. What does not fit its column is
 * cut or wrapped, as the column says.
 */
public final class Table {
  private static final String GAP = "  ";

  /** What nothing is shown as; empty in CSV. */
  private static final String NOTHING = "–";

  /** A column is made narrower than this only after others were left out. */
  private static final int CELLS_READABLE = 14;

  /** No column is made narrower than this. */
  private static final int CELLS_MIN = 6;

  /** Digits of an id that are enough to name a document to other commands. */
  private static final int ID_DIGITS = 12;

  /** Digits of an id that are left in the narrowest table; other commands take six. */
  private static final int ID_DIGITS_MIN = 8;

  private static final Duration YEAR = Duration.ofDays(300);
  private static final DateTimeFormatter CLOCK = time("HH:mm:ss'Z'");
  private static final DateTimeFormatter DAY = time("MM-dd HH:mm'Z'");
  private static final DateTimeFormatter DATE = time("uuuu-MM-dd");

  private static DateTimeFormatter time(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
  }

  /** What a column does with a text that is wider than the column. */
  public enum Fit {
    /** Keeps its whole width as long as other columns can be made narrower, then cuts. */
    KEEP,
    /** Ends in an ellipsis. */
    CUT,
    /** Goes on in the next line. */
    WRAP,
    /** Is whole or left out with its column; the last such column goes first. */
    OMIT,
    /** For programs: is in CSV alone. */
    DATA
  }

  private record Column(String head, Fit fit, boolean right) {}

  /**
   * One cell.
   *
   * @param text as it is shown where there is room
   * @param brief the same for a narrow table
   * @param value the same for programs, whole
   * @param least cells of which it is always shown; it is cut without an ellipsis then, so that
   *     what is left can be typed
   */
  public record Cell(String text, Style style, String brief, String value, int least) {
    public Cell {
      text = Text.printable(text);
      brief = Text.printable(brief);
    }

    private Cell(String text, Style style, String brief, String value) {
      this(text, style, brief, value, 0);
    }

    /** The same in another style. */
    public Cell in(Style other) {
      return new Cell(text, other, brief, value, least);
    }

    private String cut(int width) {
      return least > 0 && width < Text.width(brief)
          ? brief.substring(0, Math.min(brief.length(), width))
          : Text.cut(brief, width);
    }
  }

  private final List<Column> columns = new ArrayList<>();
  private final List<List<Cell>> rows = new ArrayList<>();
  private int[] widest = {};
  private int[] widestBrief = {};
  private int[] least = {};

  public Table column(String head, Fit fit) {
    return column(new Column(head, fit, false));
  }

  /** A column of numbers, set to the right. */
  public Table numbers(String head) {
    return numbers(head, Fit.KEEP);
  }

  public Table numbers(String head, Fit fit) {
    return column(new Column(head, fit, true));
  }

  private Table column(Column column) {
    columns.add(column);
    widest = heads();
    widestBrief = heads();
    least = new int[columns.size()];
    return this;
  }

  private int[] heads() {
    return columns.stream().mapToInt(column -> Text.width(column.head())).toArray();
  }

  public static Cell cell(String text) {
    return cell(text, Style.PLAIN);
  }

  public static Cell cell(String text, Style style) {
    return new Cell(text, style, text, text.equals(NOTHING) ? "" : text);
  }

  public static Cell cell(long number) {
    return cell(Long.toString(number));
  }

  /** Where there is nothing to show. */
  public static Cell none() {
    return cell(NOTHING, Style.DIM);
  }

  /** The beginning of an id; programs get it whole. */
  public static Cell id(Digest id, Style style) {
    String beginning = id.hex().substring(0, ID_DIGITS);
    return new Cell(beginning, style, beginning, id.toString(), ID_DIGITS_MIN);
  }

  /**
   * A time; in a narrow table to the second where it is of the same day, else to the minute, or the
   * date alone where it is not of about the same year.
   *
   * @param now what it is compared with
   */
  public static Cell time(Instant at, Instant now) {
    boolean sameDay = DATE.format(at).equals(DATE.format(now));
    boolean sameYear = Duration.between(at, now).abs().compareTo(YEAR) < 0;
    DateTimeFormatter form = sameDay ? CLOCK : sameYear ? DAY : DATE;
    String whole = Timestamps.format(at);
    return new Cell(whole, Style.DIM, form.format(at), whole);
  }

  public Table row(Cell... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells in " + columns.size() + " columns");
    }
    rows.add(List.of(cells));
    for (int i = 0; i < cells.length; i++) {
      widest[i] = Math.max(widest[i], Text.width(cells[i].text()));
      widestBrief[i] = Math.max(widestBrief[i], Text.width(cells[i].brief()));
      least[i] = Math.max(least[i], cells[i].least());
    }
    return this;
  }

  public Table row(String... cells) {
    return row(Arrays.stream(cells).map(Table::cell).toArray(Cell[]::new));
  }

  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * The lines of the table, without line ends and trailing spaces.
   *
   * @param width cells that a line may take
   * @param colour whether styles are painted
   */
  public List<String> lines(int width, boolean colour) {
    Layout layout = layout(width);
    List<String> lines = layout.heads(colour);
    lines.addAll(layout.rows(colour));
    return lines;
  }

  /**
   * The lines of the rows alone, which are forgotten then: for a table that goes on. Columns are as
   * wide as everything so far needs.
   */
  public List<String> drain(int width, boolean colour) {
    List<String> lines = layout(width).rows(colour);
    rows.clear();
    return lines;
  }

  /** The line of the heads in CSV. */
  public String csvHead() {
    return columns.stream()
        .map(column -> column.head().replace(' ', '_'))
        .collect(Collectors.joining(","));
  }

  /** The rows in CSV (RFC 4180, without line ends), all columns, values whole. */
  public List<String> csvRows() {
    return rows.stream()
        .map(row -> row.stream().map(cell -> csv(cell.value())).collect(Collectors.joining(",")))
        .toList();
  }

  /** The same, and forgets them. */
  public List<String> drainCsv() {
    List<String> lines = csvRows();
    rows.clear();
    return lines;
  }

  private static String csv(String value) {
    boolean plain =
        value.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
            && value.equals(value.strip());
    return plain ? value : '"' + value.replace("\"", "\"\"") + '"';
  }

  /** The heads of the columns that a table of that width leaves out. */
  public List<String> leftOut(int width) {
    Layout layout = layout(width);
    return visible().stream()
        .filter(i -> !layout.shown().contains(i))
        .map(i -> columns.get(i).head())
        .toList();
  }

  private Layout layout(int width) {
    List<Integer> shown = new ArrayList<>(visible());
    if (excess(shown, widest, width) <= 0) {
      return new Layout(shown, widest.clone(), false);
    }
    int[] widths = widestBrief.clone();
    while (narrow(shown, widths, excess(shown, widths, width), CELLS_READABLE, false) > 0
        && omitLast(shown)) {
      widths = widestBrief.clone();
    }
    int left = narrow(shown, widths, excess(shown, widths, width), CELLS_MIN, false);
    narrow(shown, widths, left, CELLS_MIN, true);
    return new Layout(shown, widths, true);
  }

  private List<Integer> visible() {
    return IntStream.range(0, columns.size())
        .filter(i -> columns.get(i).fit() != Fit.DATA)
        .boxed()
        .toList();
  }

  private boolean omitLast(List<Integer> shown) {
    for (int i = shown.size() - 1; i >= 0; i--) {
      if (columns.get(shown.get(i)).fit() == Fit.OMIT) {
        shown.remove(i);
        return true;
      }
    }
    return false;
  }

  private static int excess(List<Integer> shown, int[] widths, int width) {
    return shown.stream().mapToInt(i -> widths[i]).sum()
        + GAP.length() * (shown.size() - 1)
        - width;
  }

  /** Takes cells from the widest columns, one by one; returns how many it could not take. */
  private int narrow(
      List<Integer> shown, int[] widths, int excess, int cellsMin, boolean keepersToo) {
    int left = excess;
    while (left > 0) {
      int widestOne = -1;
      for (int i : shown) {
        Fit fit = columns.get(i).fit();
        boolean mayGive = keepersToo || fit == Fit.CUT || fit == Fit.WRAP;
        boolean canGive = widths[i] > Math.max(cellsMin, least[i]);
        if (mayGive && canGive && (widestOne < 0 || widths[i] > widths[widestOne])) {
          widestOne = i;
        }
      }
      if (widestOne < 0) {
        return left;
      }
      widths[widestOne]--;
      left--;
    }
    return left;
  }

  /** Which columns are shown, and how wide. */
  private final class Layout {
    private final List<Integer> shown;
    private final int[] widths;
    private final boolean brief;

    Layout(List<Integer> shown, int[] widths, boolean brief) {
      this.shown = shown;
      this.widths = widths;
      this.brief = brief;
    }

    List<Integer> shown() {
      return shown;
    }

    List<String> heads(boolean colour) {
      List<String> lines = new ArrayList<>();
      add(lines, columns.stream().map(c -> cell(c.head(), Style.BOLD)).toList(), colour);
      String rule = shown.stream().map(i -> "─".repeat(widths[i])).collect(Collectors.joining(GAP));
      lines.add(colour ? Style.DIM.paint(rule) : rule);
      return lines;
    }

    List<String> rows(boolean colour) {
      List<String> lines = new ArrayList<>();
      rows.forEach(row -> add(lines, row, colour));
      return lines;
    }

    private List<String> parts(List<Cell> row, int i) {
      Cell cell = row.get(i);
      String text = brief ? cell.brief() : cell.text();
      return columns.get(i).fit() == Fit.WRAP
          ? Text.wrap(text, widths[i])
          : List.of(brief ? cell.cut(widths[i]) : Text.cut(text, widths[i]));
    }

    private void add(List<String> lines, List<Cell> row, boolean colour) {
      List<List<String>> parts = shown.stream().map(i -> parts(row, i)).toList();
      int height = parts.stream().mapToInt(List::size).max().orElse(0);
      for (int n = 0; n < height; n++) {
        StringBuilder line = new StringBuilder();
        for (int at = 0; at < shown.size(); at++) {
          int i = shown.get(at);
          String text = n < parts.get(at).size() ? parts.get(at).get(n) : "";
          String space = " ".repeat(Math.max(0, widths[i] - Text.width(text)));
          String styled = colour ? row.get(i).style().paint(text) : text;
          line.append(at == 0 ? "" : GAP);
          line.append(columns.get(i).right() ? space + styled : styled + space);
        }
        lines.add(line.toString().stripTrailing());
      }
    }
  }
}
