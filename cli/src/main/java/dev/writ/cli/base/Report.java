package dev.writ.cli.base;

import dev.writ.canonicalize.json.JsonValue;

/** The result of a command as data; a view says how a person sees it. */
public interface Report {
  JsonValue toJson();
}
