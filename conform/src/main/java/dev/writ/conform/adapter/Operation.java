package dev.writ.conform.adapter;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;

/**
 * One operation of the adapter protocol: the same input gives the same output, whatever came
 * before. A refusal is a {@link dev.writ.canonicalize.WritException}. The caller ends the fields,
 * so that unknown members are refused.
 */
@FunctionalInterface
public interface Operation {
  JsonValue.Obj apply(Fields input);
}
