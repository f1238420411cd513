package dev.writ.sinks.slack;

import java.util.regex.Pattern;

/**
 * Names of others in a chat's message, so that no chat that takes Slack's form makes a mention, a
 * link or a block of code of them.
 */
final class ChatNames {
  /** Has no width and no meaning. */
  private static final String BREAK = "\u200b";

  /**
   * What mentions and names of channels begin with; what stands between a link's text and its
   * address; and what makes an address of a text without being marked.
   */
  private static final Pattern MARKS =
      Pattern.compile("[@#~\uff20]|\\](?=[(\\[:])|:(?=/|$)|\\.(?=\\p{L})");

  private ChatNames() {}

  /** Reads as before; only a backtick is written as an apostrophe. */
  static String plain(String name) {
    return MARKS.matcher(escaped(name.replace('`', '\''))).replaceAll(mark -> mark.group() + BREAK);
  }

  /** Slack's three control characters. */
  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
