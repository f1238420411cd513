package dev.writ.gateway.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;

/**
 * A message as it came.
 *
 * @param raw digest of its bytes
 * @param context what the request that it becomes says beside the effect; nobody who decides reads
 *     it
 */
record Said(Digest raw, JsonValue.Obj context) {}
