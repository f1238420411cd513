package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of the MCP surface itself, before the Guardian gets a request. */
public enum McpRefusal implements ErrorCode {
  MESSAGE(
      "GWY-151",
      "the message is no single JSON-RPC 2.0 message of MCP",
      "Send one request, notification or response as UTF-8 JSON; only the versions 2024-11-05 and"
          + " 2025-03-26 have batches."),
  PROTOCOL_VERSION(
      "GWY-152",
      "the message is of a version of the protocol that is not spoken",
      "Send the version that initialize agreed on, or one of those that are listed."),
  SESSION_MISSING(
      "GWY-153", "the call names no session", "Send initialize, and its Mcp-Session-Id."),
  SESSION_UNKNOWN("GWY-154", "there is no such session for this caller", "Send initialize again."),
  ORIGIN(
      "GWY-155",
      "the call comes from a web origin or host name that may not call",
      "Name the origin in surfaces/mcp/settings/origins, if it is yours."),
  ACCEPT(
      "GWY-156",
      "the answer is JSON, and the caller does not accept that",
      "Send Accept: application/json, text/event-stream."),
  CALL(
      "GWY-157",
      "the tool call lacks required parameters",
      "Send params with name, a text, and arguments, an object."),
  HEADERS(
      "GWY-158",
      "the headers say something other than the message",
      "Send MCP-Protocol-Version, Mcp-Method and, where it has one, Mcp-Name as the message says"
          + " them."),
  META(
      "GWY-159",
      "the request's _meta is not as the version prescribes",
      "Send io.modelcontextprotocol/protocolVersion, a text, and"
          + " io.modelcontextprotocol/clientCapabilities, an object."),
  STATE(
      "GWY-160",
      "the requestState belongs to another call",
      "Send it back with the same tool and the same arguments, as it came."),
  CANCELLED("GWY-161", "the client cancelled the call before it began", "Nothing was done."),
  SERVER_UNKNOWN(
      "GWY-208",
      "there is no such MCP server for this caller",
      "Name a server of `writ mcp list` that policy lets a role of yours call."),
  EVENTS(
      "GWY-210",
      "the answer is a stream of events, and the caller does not accept that",
      "Send Accept: text/event-stream."),
  ANSWERS(
      "GWY-209",
      "the inputResponses are not an object of answers",
      "Send an object with one object for each key of inputRequests; the call still waits.");

  private final Entry entry;

  McpRefusal(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
