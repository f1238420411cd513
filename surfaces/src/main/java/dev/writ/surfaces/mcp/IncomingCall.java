package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;

/**
 * A call as it was received.
 *
 * @param raw digest of its bytes
 * @param context what the request that it becomes says beside the effect; nobody who decides reads
 *     it
 */
record IncomingCall(Digest raw, JsonValue.Obj context) {}
