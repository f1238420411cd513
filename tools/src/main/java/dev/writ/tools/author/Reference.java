package dev.writ.tools.author;

/**
 * A reference in a tool's code to something outside its own file, found by a parser of the
 * language.
 *
 * @param path the file
 * @param line from 1
 * @param column from 1
 * @param name a module; if {@code dynamic}, the expression that computes one
 * @param dynamic whether the module is known only at run time
 */
public record Reference(String path, long line, long column, String name, boolean dynamic) {
  /** Where it stands, for people. */
  public String place() {
    return path + " line " + line + ", column " + column;
  }
}
