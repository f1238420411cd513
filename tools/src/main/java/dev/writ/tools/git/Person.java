package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;

/** Who a commit names. */
record Person(String name, String email) {

  /**
   * @throws WritException {@code TOL-073} for what git would change or take for something else
   */
  Person {
    require(name, "name");
    require(email, "email");
    if (email.contains(" ")) {
      throw new WritException(ToolsError.GIT_TEXT, "a space in an email");
    }
  }

  /** Git strips these at the ends of names, so the commit would state another name. */
  private static final String CRUD = " .,:;<>\"\\'";

  private static void require(String text, String what) {
    boolean good =
        !text.isEmpty()
            && text.length() <= 200
            && text.chars().noneMatch(c -> c < 0x20 || c == 0x7f || c == '<' || c == '>')
            && text.codePoints().noneMatch(c -> c >= 0xD800 && c <= 0xDFFF)
            && CRUD.indexOf(text.charAt(0)) < 0
            && CRUD.indexOf(text.charAt(text.length() - 1)) < 0;
    if (!good) {
      throw new WritException(ToolsError.GIT_TEXT, "a " + what + " that git would change");
    }
  }
}
