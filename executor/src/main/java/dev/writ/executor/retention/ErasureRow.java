package dev.writ.executor.retention;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.ledger.seal.ContentOwner;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How far an order of erasure is: a row of {@link dev.writ.executor.journal.Tables#ERASURE}.
 *
 * @param keys that it destroys
 * @param done when it was carried out
 */
record ErasureRow(List<Key> keys, Optional<Instant> done) {

  /**
   * A key that is destroyed.
   *
   * @param owner of the key
   */
  record Key(ContentOwner owner, String id) {
    private static Key read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Key key =
          new Key(
              new ContentOwner(fields.name("tenant"), fields.name("kind"), fields.name("name")),
              fields.name("id"));
      fields.end();
      return key;
    }

    private JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("tenant", owner.tenant())
          .put("kind", owner.kind())
          .put("name", owner.name())
          .put("id", id)
          .build();
    }
  }

  static ErasureRow parse(byte[] row) {
    Fields fields = Fields.of("erasure", Jcs.parse(row));
    ErasureRow read =
        new ErasureRow(fields.list("keys", Key::read), fields.optional("done", fields::time));
    fields.end();
    return read;
  }

  byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .putList("keys", keys, Key::toJson)
            .putIfPresent("done", done, at -> JsonValue.of(Timestamps.format(at)))
            .build());
  }

  List<String> ids() {
    return keys.stream().map(Key::id).toList();
  }
}
