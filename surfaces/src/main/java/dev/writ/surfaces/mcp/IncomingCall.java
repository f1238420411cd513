package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;

/**
 * A call as it was received.
 *
 * @param raw digest of its bytes
 * @param context further data for the request that it becomes; no decision uses it
 * @param work its progress and its end
 */
record IncomingCall(Digest raw, JsonValue.Obj context, MessageInProgress work) {}
