package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;

/**
 * An event of a run (spec/journal.md). It is unsigned; it names the event before it.
 *
 * @param body the document or blob that says what happened
 * @param document the whole event
 */
public record RunEvent(long seq, String kind, Digest body, Instant at, JsonValue.Obj document) {}
