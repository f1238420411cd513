package dev.writ.gateway.apart;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.ObservedException;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.error.GuardianError;
import dev.writ.ledger.error.LedgerError;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A refusal of the executor on its way to the guardian, which refuses with the same code. */
final class ApartRefusal {
  private static final List<ErrorCode> KNOWN =
      Stream.<ErrorCode[]>of(
              ExecutorError.values(),
              GuardianError.values(),
              CanonicalizeError.values(),
              LedgerError.values())
          .flatMap(Arrays::stream)
          .toList();

  private ApartRefusal() {}

  /** What the answer says. */
  static JsonValue.Obj json(WritException refused) {
    Optional<Observed> observed =
        refused instanceof ObservedException more ? Optional.of(more.observed()) : Optional.empty();
    return JsonValue.object()
        .put("code", refused.code().code())
        .put("found", refused.found())
        .putIfPresent("input", observed.flatMap(Observed::input), JsonValue::of)
        .put("meaning", refused.code().meaning())
        .put("remedy", refused.code().remedy())
        .putIfPresent(
            "snapshot", observed.flatMap(Observed::snapshot), d -> JsonValue.of(d.toString()))
        .putIfPresent(
            "workspace", observed.flatMap(Observed::workspace), d -> JsonValue.of(d.toString()))
        .build();
  }

  /** The same refusal. */
  static WritException read(Fields fields) {
    String text = fields.name("code");
    String found = fields.string("found");
    Told told = new Told(text, fields.string("meaning"), fields.string("remedy"));
    Observed observed =
        new Observed(
            fields.optional("snapshot", fields::digest),
            fields.optional("input", fields::name),
            fields.optional("workspace", fields::digest));
    fields.end();
    ErrorCode code =
        KNOWN.stream().filter(each -> each.code().equals(text)).findFirst().orElse(told);
    Optional<Digest> digest = observed.snapshot().or(observed::workspace);
    return digest.isPresent() || observed.input().isPresent()
        ? new ObservedException(code, found, observed)
        : new WritException(code, found);
  }

  /** A code of a module that only the executor has. */
  private record Told(String code, String meaning, String remedy) implements ErrorCode {
    @Override
    public Entry entry() {
      return new Entry(code, meaning, remedy);
    }
  }
}
