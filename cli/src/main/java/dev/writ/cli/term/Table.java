package dev.writ.cli.term;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A table with aligned columns and a thin line under its heads. It fits the width it is given by
 * making its widest columns narrower; what does not fit is cut or wrapped, as each column says.
 */
public final class Table {
  private static final String GAP = "  ";

  /** No column is made narrower than this. */
  private static final int CELLS_MIN = 6;

  /** What a column does with a text that is wider than the column. */
  public enum Fit {
    /** Keeps its whole width as long as other columns can be made narrower, then cuts. */
    KEEP,
    /** Ends in an ellipsis. */
    CUT,
    /** Goes on in the next line. */
    WRAP
  }

  private record Column(String head, Fit fit, boolean right) {}

  /** One cell. */
  public record Cell(String text, Style style) {
    public Cell {
      text = Text.printable(text);
    }
  }

  private final List<Column> columns = new ArrayList<>();
  private final List<List<Cell>> rows = new ArrayList<>();

  public Table column(String head, Fit fit) {
    columns.add(new Column(head, fit, false));
    return this;
  }

  /** A column of numbers, set to the right. */
  public Table numbers(String head) {
    columns.add(new Column(head, Fit.KEEP, true));
    return this;
  }

  public static Cell cell(String text) {
    return new Cell(text, Style.PLAIN);
  }

  public static Cell cell(String text, Style style) {
    return new Cell(text, style);
  }

  public Table row(Cell... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells in " + columns.size() + " columns");
    }
    rows.add(List.of(cells));
    return this;
  }

  public Table row(String... cells) {
    return row(Arrays.stream(cells).map(Table::cell).toArray(Cell[]::new));
  }

  /**
   * The lines of the table, without line ends and trailing spaces.
   *
   * @param width cells that a line may take
   * @param colour whether styles are painted
   */
  public List<String> lines(int width, boolean colour) {
    int[] widths = widths(width);
    List<String> lines = new ArrayList<>();
    List<Cell> heads = columns.stream().map(c -> new Cell(c.head(), Style.BOLD)).toList();
    addRow(lines, heads, widths, colour);
    StringBuilder rule = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      rule.append(i == 0 ? "" : GAP).append("─".repeat(widths[i]));
    }
    lines.add(colour ? Style.DIM.paint(rule.toString()) : rule.toString());
    rows.forEach(row -> addRow(lines, row, widths, colour));
    return lines;
  }

  private int[] widths(int width) {
    int[] widths = new int[columns.size()];
    for (int i = 0; i < widths.length; i++) {
      widths[i] = Text.width(columns.get(i).head());
      for (List<Cell> row : rows) {
        widths[i] = Math.max(widths[i], Text.width(row.get(i).text()));
      }
    }
    int excess = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1) - width;
    excess = narrow(widths, excess, false);
    narrow(widths, excess, true);
    return widths;
  }

  /** Takes cells from the widest columns, one by one; returns how many it could not take. */
  private int narrow(int[] widths, int excess, boolean keepersToo) {
    int left = excess;
    while (left > 0) {
      int widest = -1;
      for (int i = 0; i < widths.length; i++) {
        boolean mayGive = keepersToo || columns.get(i).fit() != Fit.KEEP;
        if (mayGive && widths[i] > CELLS_MIN && (widest < 0 || widths[i] > widths[widest])) {
          widest = i;
        }
      }
      if (widest < 0) {
        return left;
      }
      widths[widest]--;
      left--;
    }
    return left;
  }

  private void addRow(List<String> lines, List<Cell> row, int[] widths, boolean colour) {
    List<List<String>> parts = new ArrayList<>();
    int height = 1;
    for (int i = 0; i < widths.length; i++) {
      String text = row.get(i).text();
      List<String> part =
          columns.get(i).fit() == Fit.WRAP
              ? Text.wrap(text, widths[i])
              : List.of(Text.cut(text, widths[i]));
      parts.add(part);
      height = Math.max(height, part.size());
    }
    for (int n = 0; n < height; n++) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String text = n < parts.get(i).size() ? parts.get(i).get(n) : "";
        String space = " ".repeat(Math.max(0, widths[i] - Text.width(text)));
        String shown = colour ? row.get(i).style().paint(text) : text;
        line.append(i == 0 ? "" : GAP);
        line.append(columns.get(i).right() ? space + shown : shown + space);
      }
      lines.add(line.toString().stripTrailing());
    }
  }
}
