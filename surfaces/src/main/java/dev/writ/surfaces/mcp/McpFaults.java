package dev.writ.surfaces.mcp;

import io.modelcontextprotocol.spec.McpSchema.ErrorCodes;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;

/** Errors of JSON-RPC in answers, with no more in them than the protocol wants. */
final class McpFaults {
  private McpFaults() {}

  static JSONRPCResponse unserved(Object id) {
    return JSONRPCResponse.error(
        id,
        new JSONRPCResponse.JSONRPCError(ErrorCodes.METHOD_NOT_FOUND, "this method is not served"));
  }

  static JSONRPCResponse paramsRefused(Object id) {
    return JSONRPCResponse.error(
        id,
        new JSONRPCResponse.JSONRPCError(
            ErrorCodes.INVALID_PARAMS, "the params are not what the method takes"));
  }

  /** Our code reports its own failures, so an internal error of the SDK means malformed params. */
  static JSONRPCResponse withoutInternals(JSONRPCResponse response) {
    return response.error() != null && response.error().code() == ErrorCodes.INTERNAL_ERROR
        ? paramsRefused(response.id())
        : response;
  }

  /** Without sessions a resource that is not there is a wrong parameter. */
  static JSONRPCResponse stateless(JSONRPCResponse response) {
    return response.error().code() == ErrorCodes.RESOURCE_NOT_FOUND
        ? JSONRPCResponse.error(
            response.id(),
            new JSONRPCResponse.JSONRPCError(
                ErrorCodes.INVALID_PARAMS, response.error().message(), response.error().data()))
        : response;
  }
}
