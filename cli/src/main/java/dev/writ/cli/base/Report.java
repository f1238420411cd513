package dev.writ.cli.base;

import dev.writ.canonicalize.json.JsonValue;

/** What a command found, as data; how it looks to a person is a view's affair. */
public interface Report {
  JsonValue toJson();
}
