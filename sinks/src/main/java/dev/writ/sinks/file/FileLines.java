package dev.writ.sinks.file;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.replay.export.InTotoStatements;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.SinkRecord;

/** How records are lines of a file, and what the last line says of how far the file is. */
enum FileLines {
  /** What was executed and denied, in our own form (spec/sinks.md, 9). */
  RECORDS("{\"evidence\":\"sha256:") {
    @Override
    JsonValue.Obj line(SinkRecord record) {
      return JsonValue.object()
          .put("id", record.id().toString())
          .put("log", record.log())
          .put("tenant", record.scope().tenant())
          .put("subject", record.scope().subject())
          .put("evidence", record.evidence())
          .put("fields", record.fields())
          .build();
    }

    @Override
    String log(Fields line) {
      return line.string("log");
    }

    @Override
    String id(Fields line) {
      return line.string("id");
    }
  },

  /** CloudEvents, with the record's id in an extension. */
  CLOUDEVENTS("{\"data\":{") {
    @Override
    JsonValue.Obj line(SinkRecord record) {
      return with(record.fields(), "writrecord", JsonValue.of(record.id().toString()));
    }

    @Override
    String log(Fields line) {
      return line.string("source");
    }

    @Override
    String id(Fields line) {
      return line.string("writrecord");
    }
  },

  /** OCSF, with the record's id in {@code unmapped}. */
  OCSF("{\"action\":\"") {
    @Override
    JsonValue.Obj line(SinkRecord record) {
      JsonValue.Obj unmapped = (JsonValue.Obj) record.fields().get("unmapped");
      return with(
          record.fields(),
          "unmapped",
          with(unmapped, "record", JsonValue.of(record.id().toString())));
    }

    @Override
    String log(Fields line) {
      return line.fields("metadata").string("log_name");
    }

    @Override
    String id(Fields line) {
      return line.fields("unmapped").string("record");
    }
  },

  /** Statements of in-toto, with the record's id in the predicate. */
  IN_TOTO("{\"payload\":\"") {
    @Override
    JsonValue.Obj line(SinkRecord record) {
      JsonValue.Obj predicate = (JsonValue.Obj) record.fields().get("predicate");
      return with(
          record.fields(),
          "predicate",
          with(predicate, "record", JsonValue.of(record.id().toString())));
    }

    @Override
    JsonValue read(byte[] line) {
      return InTotoStatements.read(line);
    }

    @Override
    String log(Fields line) {
      return line.fields("predicate").fields("log").string("origin");
    }

    @Override
    String id(Fields line) {
      return line.fields("predicate").string("record");
    }
  };

  private final String begin;

  FileLines(String begin) {
    this.begin = begin;
  }

  /** How the bytes of every line begin. */
  String begin() {
    return begin;
  }

  /** What a line says; that of in-toto is signed then. */
  abstract JsonValue.Obj line(SinkRecord record);

  /** What a line of a file says. */
  JsonValue read(byte[] line) {
    return Jcs.parse(line);
  }

  /** What a line calls the log. */
  abstract String log(Fields line);

  /** A {@link RecordId} as text. */
  abstract String id(Fields line);

  private static JsonValue.Obj with(JsonValue.Obj object, String key, JsonValue value) {
    var more = JsonValue.object();
    object
        .members()
        .forEach((name, member) -> {
          if (!name.equals(key)) {
            more.put(name, member);
          }
        });
    return more.put(key, value).build();
  }
}
