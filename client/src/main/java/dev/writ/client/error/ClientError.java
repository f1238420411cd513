package dev.writ.client.error;

import dev.writ.canonicalize.ErrorCode;

/** Why a client rejects a server's answer, or got none. */
public enum ClientError implements ErrorCode {
  REFUSED("GWY-060", "the server refused", "Look up the server's code in spec/errors.md."),
  NO_ANSWER(
      "GWY-061",
      "no answer came from the server",
      "Send the same signed request again: it runs once. A tool call of MCP would be a second one:"
          + " see `writ receipts` first."),
  ANSWER_REFUSED(
      "GWY-062",
      "the server's answer is not about the request",
      "Do not rely on it; find out who answers at that address."),
  AUTHORITY_UNREADABLE(
      "GWY-063", "the authority's certificate cannot be read", "Name a PEM file that exists."),
  ADDRESS(
      "GWY-064",
      "the server's address is not one that secrets may be sent to",
      "Use https://, or http:// to this machine."),
  PERMITTED_BEFORE(
      "GWY-065",
      "a call under this key was permitted before, and may have run",
      "Find out whether it ran; only another key permits another call."),
  NOT_PERMITTED(
      "GWY-066",
      "the function was not let run",
      "See what the decision's check asks for; an approval may be missing.");

  private final Entry entry;

  ClientError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
