package dev.writ.tools.author;

/**
 * What a tool's code names from outside of its own file, as a parser of the language found it.
 *
 * @param path the file
 * @param line from 1
 * @param column from 1
 * @param name a module; or what computes one, where {@code dynamic}
 * @param dynamic whether what is meant is known only when it runs
 */
public record Reference(String path, long line, long column, String name, boolean dynamic) {
  /** Where it stands, for people. */
  public String place() {
    return path + " line " + line + ", column " + column;
  }
}
