package dev.writ.conform.mutant;

import static dev.writ.conform.mutant.Mutant.accepting;
import static dev.writ.conform.mutant.Mutant.confusing;
import static dev.writ.conform.mutant.Mutant.ignoring;
import static dev.writ.conform.mutant.Mutant.of;
import static dev.writ.conform.mutant.Mutant.telling;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.executor.RecordedCode;
import dev.writ.fixture.TestKeys;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** The broken implementations that the suite must catch, every one. */
final class Mutants {
  private final List<Mutant> all = new ArrayList<>();

  private Mutants() {}

  static List<Mutant> all() {
    Mutants mutants = new Mutants();
    mutants.canonicalForms();
    mutants.digests();
    mutants.signatures();
    mutants.keys();
    mutants.envelopes();
    mutants.trust();
    mutants.log();
    mutants.checkpoints();
    mutants.guardian();
    mutants.gate();
    mutants.receipts();
    mutants.executor();
    mutants.bundles();
    return mutants.all;
  }

  // ---- small tools

  private static byte[] bytes(JsonValue.Obj input, String key) {
    return StrictBase64.decode(key, text(input, key));
  }

  private static String text(JsonValue.Obj object, String key) {
    return ((JsonValue.Str) object.get(key)).value();
  }

  private static JsonValue b64(byte[] bytes) {
    return JsonValue.of(StrictBase64.encode(bytes));
  }

  private static TreeMap<String, JsonValue> put(
      TreeMap<String, JsonValue> members, String key, JsonValue value) {
    members.put(key, value);
    return members;
  }

  private static TreeMap<String, JsonValue> without(
      TreeMap<String, JsonValue> members, String key) {
    members.remove(key);
    return members;
  }

  /** Changes each item of a list of objects. */
  private static JsonValue each(JsonValue list, UnaryOperator<TreeMap<String, JsonValue>> change) {
    return JsonValue.of(
        ((JsonValue.Arr) list)
            .items().stream()
                .map(item ->
                    (JsonValue)
                        new JsonValue.Obj(
                            change.apply(new TreeMap<>(((JsonValue.Obj) item).members()))))
                .toList());
  }

  private static JsonValue.Obj canonical(byte[] form) {
    return JsonValue.object()
        .put("canonical_b64", StrictBase64.encode(form))
        .put("digest", Digest.sha256(form))
        .build();
  }

  // ---- L1

  private void canonicalForms() {
    String suite = "canonicalize";
    for (LooseJson.Flaw flaw : LooseJson.Flaw.values()) {
      all.add(
          of(
              suite,
              suite,
              "canonicalize: " + flaw.name().toLowerCase(Locale.ROOT).replace('_', ' '),
              input -> canonical(LooseJson.canonicalize(bytes(input, "json_b64"), flaw))));
    }
    String[][] accepted = {
      {"CAN-001", "bytes that are no UTF-8"},
      {"CAN-002", "lone surrogates"},
      {"CAN-003", "what is no JSON (comments, single quotes, NaN)"},
      {"CAN-004", "duplicate keys"},
      {"CAN-005", "leading zeros"},
      {"CAN-006", "bytes behind the value"},
      {"CAN-007", "numbers too large for a double"},
      {"CAN-008", "any depth"},
      {"CAN-010", "a byte order mark"},
      {"CAN-011", "values that are cut off"},
      {"CAN-014", "numbers that underflow to zero"},
    };
    for (String[] each : accepted) {
      all.add(accepting(suite, suite, each[0], "canonicalize: accepts " + each[1]));
    }
    all.add(confusing(suite, suite, "CAN-011", "CAN-003"));
    all.add(
        telling(
            suite,
            suite,
            "canonicalize: gives back the text as it came",
            output -> put(output, "canonical_b64", JsonValue.of(""))));
    all.add(
        of(
            suite,
            suite,
            "canonicalize: digest of the text, not of its form",
            input -> {
              byte[] json = bytes(input, "json_b64");
              return JsonValue.object()
                  .put("canonical_b64", StrictBase64.encode(Jcs.canonicalize(json)))
                  .put("digest", Digest.sha256(json))
                  .build();
            }));
  }

  private void digests() {
    all.add(
        telling(
            "digest",
            "digest",
            "digest: in capitals",
            output ->
                put(
                    output,
                    "digest",
                    JsonValue.of(
                        ((JsonValue.Str) output.get("digest")).value().toUpperCase(Locale.ROOT)))));
    all.add(
        of(
            "digest",
            "digest",
            "digest: SHA-512/256 under the name of SHA-256",
            input ->
                JsonValue.object()
                    .put("digest", "sha256:" + hex(other(bytes(input, "bytes_b64"))))
                    .build()));
    all.add(accepting("digest", "digest.parse", "CAN-040", "digest.parse: accepts any spelling"));
  }

  private static byte[] other(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-512/256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private void signatures() {
    String op = "ed25519.verify";
    String suite = "ed25519";
    all.add(of(suite, op, "ed25519: accepts any signature", _ -> Mutant.VALID));
    all.add(accepting(suite, op, "CAN-060", "ed25519: checks the key and never the signature"));
    all.add(accepting(suite, op, "CAN-051", "ed25519: takes keys of small order"));
    all.add(accepting(suite, op, "CAN-050", "ed25519: takes keys that are no point"));
    all.add(
        of(
            suite,
            op,
            "ed25519: S is not held below L",
            input -> {
              byte[] signature = bytes(input, "signature_b64");
              return unwrap(op, with(input, "signature_b64", b64(reduced(signature))));
            }));
    all.add(
        of(
            suite,
            op,
            "ed25519: without the cofactor",
            input -> {
              JsonValue.Obj real = unwrap(op, input);
              if (COFACTORED_ONLY.contains(text(input, "signature_b64"))) {
                throw new WritException(CanonicalizeError.SIGNATURE_INVALID, "");
              }
              return real;
            }));
    all.add(
        of(
            suite,
            op,
            "ed25519: longer signatures are cut",
            input -> {
              byte[] signature = bytes(input, "signature_b64");
              return unwrap(
                  op,
                  with(
                      input,
                      "signature_b64",
                      b64(Arrays.copyOf(signature, Math.min(64, signature.length)))));
            }));
    all.add(
        of(
            suite,
            op,
            "ed25519: refuses every empty message",
            input -> {
              if (bytes(input, "message_b64").length == 0) {
                throw new WritException(CanonicalizeError.SIGNATURE_INVALID, "");
              }
              return unwrap(op, input);
            }));
  }

  /** speccheck 4 and 5: a cofactorless verifier refuses these. */
  private static final List<String> COFACTORED_ONLY = cofactoredOnly();

  private static List<String> cofactoredOnly() {
    List<String> found = new ArrayList<>();
    for (String number : List.of("04", "05")) {
      found.add(text(Golden.input("ed25519/speccheck-" + number), "signature_b64"));
    }
    return found;
  }

  private static final byte[] ORDER =
      HexFormat.of().parseHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");

  private static byte[] reduced(byte[] signature) {
    if (signature.length != 64) {
      return signature;
    }
    byte[] big = new byte[32];
    byte[] order = new byte[32];
    for (int i = 0; i < 32; i++) {
      big[i] = signature[63 - i];
      order[i] = ORDER[31 - i];
    }
    byte[] s = new BigInteger(1, big).mod(new BigInteger(1, order)).toByteArray();
    byte[] changed = signature.clone();
    for (int i = 0; i < 32; i++) {
      changed[32 + i] = i < s.length ? s[s.length - 1 - i] : 0;
    }
    return changed;
  }

  private static JsonValue.Obj with(JsonValue.Obj object, String key, JsonValue value) {
    return new JsonValue.Obj(put(new TreeMap<>(object.members()), key, value));
  }

  /** What the real one gives; its refusal as a refusal. */
  private static JsonValue.Obj unwrap(String op, JsonValue.Obj input) {
    return switch (Mutant.real(op, input)) {
      case AdapterAnswer.Output(JsonValue.Obj output) -> output;
      case AdapterAnswer.Refused(String code, String message) ->
          throw new WritException(new RecordedCode(code), message);
    };
  }

  private void keys() {
    String op = "key.enrol";
    String[][] accepted = {
      {"CAN-021", "unknown members, a private key among them"},
      {"CAN-023", "other curves and padded base64"},
      {"CAN-020", "keys without a curve"},
      {"CAN-050", "keys of another length, and any kid"},
      {"CAN-051", "weak keys"},
    };
    for (String[] each : accepted) {
      all.add(accepting("jwk", op, each[0], "key.enrol: takes " + each[1]));
    }
    all.add(
        of(
            "jwk",
            op,
            "key.enrol: thumbprint over all members",
            input -> {
              unwrap(op, input);
              return JsonValue.object()
                  .put(
                      "kid",
                      StrictBase64.encodeUrl(Digest.sha256(Jcs.write(input.get("jwk"))).bytes()))
                  .build();
            }));
    all.add(
        telling(
            "jwk",
            op,
            "key.enrol: kid in padded standard base64",
            output ->
                put(
                    output,
                    "kid",
                    b64(
                        Base64.getUrlDecoder()
                            .decode(((JsonValue.Str) output.get("kid")).value())))));
  }

  private void envelopes() {
    String op = "dsse.verify";
    all.add(
        of(
            "pae",
            "dsse.pae",
            "dsse.pae: lengths in characters",
            input -> {
              String type = text(input, "payload_type");
              String payload = new String(bytes(input, "payload_b64"), StandardCharsets.UTF_8);
              return JsonValue.object()
                  .put(
                      "pae_b64",
                      StrictBase64.encode(
                          ("DSSEv1 "
                                  + type.length()
                                  + " "
                                  + type
                                  + " "
                                  + payload.length()
                                  + " "
                                  + payload)
                              .getBytes(StandardCharsets.UTF_8)))
                  .build();
            }));
    all.add(
        of(
            "pae",
            "dsse.pae",
            "dsse.pae: payload in base64",
            input ->
                JsonValue.object()
                    .put(
                        "pae_b64",
                        StrictBase64.encode(
                            Envelope.preAuthEncoding(
                                text(input, "payload_type"),
                                text(input, "payload_b64").getBytes(StandardCharsets.UTF_8))))
                    .build()));
    String[][] accepted = {
      {"CAN-060", "any signature"},
      {"CAN-052", "signatures of unknown keys"},
      {"CAN-056", "a key twice"},
      {"CAN-012", "envelopes that are not canonical"},
      {"CAN-006", "bytes behind the envelope"},
      {"CAN-021", "unknown members"},
      {"CAN-023", "unsorted signatures, none at all, and loose base64"},
    };
    for (String[] each : accepted) {
      all.add(accepting("dsse", op, each[0], "dsse.verify: accepts " + each[1]));
    }
    all.add(
        of(
            "dsse",
            op,
            "dsse.verify: skips the pre-authentication encoding",
            input -> verify(input, (envelope, message) -> envelope.payload(), false)));
    all.add(
        of(
            "dsse",
            op,
            "dsse.verify: one good signature is enough",
            input -> verify(input, (envelope, message) -> message, true)));
    all.add(
        telling(
            "dsse",
            op,
            "dsse.verify: tells the first signer alone",
            output ->
                put(
                    output,
                    "kids",
                    JsonValue.of(((JsonValue.Arr) output.get("kids")).items().subList(0, 1)))));
    all.add(
        of(
            "dsse",
            op,
            "dsse.verify: any of the keys may have signed",
            input -> {
              Envelope envelope = wellFormed(input);
              for (Envelope.Signature signature : envelope.signatures()) {
                Fields.of("input", input)
                    .list("keys", (_, jwk) -> VerifyingKey.fromJwk(jwk))
                    .stream()
                    .filter(key -> accepts(key, envelope.preAuthEncoding(), signature))
                    .findFirst()
                    .orElseThrow(() -> new WritException(CanonicalizeError.SIGNATURE_INVALID, ""));
              }
              return opened(envelope);
            }));
  }

  private static byte[] envelopeBytes(JsonValue.Obj input) {
    return input.get("envelope") != null
        ? Jcs.write(input.get("envelope"))
        : bytes(input, "envelope_b64");
  }

  /** An envelope with nothing wrong but, it may be, its signatures. */
  private static Envelope wellFormed(JsonValue.Obj input) {
    AdapterAnswer answer = Mutant.real("dsse.verify", input);
    if (answer instanceof AdapterAnswer.Refused refused && !refused.code().equals("CAN-060")) {
      throw new WritException(new RecordedCode(refused.code()), refused.message());
    }
    return Envelope.parse(envelopeBytes(input));
  }

  private static JsonValue.Obj opened(Envelope envelope) {
    return JsonValue.object()
        .putList("kids", envelope.signatures(), s -> JsonValue.of(s.kid()))
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .put("payload_type", envelope.payloadType())
        .build();
  }

  private interface Covered {
    byte[] by(Envelope envelope, byte[] message);
  }

  private static JsonValue.Obj verify(JsonValue.Obj input, Covered covered, boolean oneIsEnough) {
    Envelope envelope = wellFormed(input);
    byte[] message = covered.by(envelope, envelope.preAuthEncoding());
    TreeMap<String, VerifyingKey> keys = new TreeMap<>();
    Fields.of("input", input)
        .list("keys", (_, jwk) -> VerifyingKey.fromJwk(jwk))
        .forEach(key -> keys.put(key.kid(), key));
    long good =
        envelope.signatures().stream()
            .filter(s -> keys.containsKey(s.kid()) && accepts(keys.get(s.kid()), message, s))
            .count();
    if (good < (oneIsEnough ? 1 : envelope.signatures().size())) {
      throw new WritException(CanonicalizeError.SIGNATURE_INVALID, "");
    }
    return opened(envelope);
  }

  private static boolean accepts(VerifyingKey key, byte[] message, Envelope.Signature signature) {
    try {
      key.verify(message, signature.bytes());
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private void trust() {
    String op = "trust.verify";
    all.add(
        ignoring(
            "trust",
            op,
            "trust.verify: ignores revocation",
            input ->
                put(input, "keys", each(input.get("keys"), k -> without(k, "writ_revoked_at")))));
    all.add(
        ignoring(
            "trust",
            op,
            "trust.verify: ignores the end of a key",
            input ->
                put(input, "keys", each(input.get("keys"), k -> without(k, "writ_not_after")))));
    all.add(
        ignoring(
            "trust",
            op,
            "trust.verify: a key ends a millisecond early",
            input -> put(input, "at", JsonValue.of("2026-06-01T00:00:00.001Z"))));
    String[][] accepted = {
      {"CAN-053", "any role"},
      {"CAN-061", "another payload type than was asked for"},
      {"CAN-062", "an envelope without the required algorithm"},
      {"CAN-063", "signers of two holders"},
      {"CAN-064", "two keys of one algorithm"},
      {"CAN-052", "keys that nobody enrolled"},
    };
    for (String[] each : accepted) {
      all.add(accepting("trust", op, each[0], "trust.verify: accepts " + each[1]));
    }
    all.add(
        telling(
            "trust",
            op,
            "trust.verify: signers in the order of their ids",
            output ->
                put(
                    output,
                    "signers",
                    JsonValue.of(
                        ((JsonValue.Arr) output.get("signers"))
                            .items().stream()
                                .sorted(Comparator.comparing(Object::toString))
                                .toList()))));
  }

  private void log() {
    all.add(
        of(
            "merkle",
            "merkle.leaf",
            "merkle: leaves without their prefix",
            input ->
                JsonValue.object()
                    .put(
                        "leaf_hash_b64",
                        StrictBase64.encode(Digest.sha256(bytes(input, "entry_b64")).bytes()))
                    .build()));
    all.add(
        of(
            "merkle",
            "merkle.leaf",
            "merkle: leaves with the prefix of nodes",
            input ->
                JsonValue.object()
                    .put(
                        "leaf_hash_b64",
                        StrictBase64.encode(
                            Digest.sha256(new byte[] {1}, bytes(input, "entry_b64")).bytes()))
                    .build()));
    all.add(of("merkle", "merkle.root", "merkle: an odd last leaf is doubled", Mutants::doubled));
    String[][] accepted = {
      {"merkle.inclusion", "LED-040", "skips the check of index and size"},
      {"merkle.inclusion", "LED-041", "ignores hashes that are left over or missing"},
      {"merkle.inclusion", "LED-042", "never compares the root"},
      {"merkle.inclusion", "CAN-040", "takes hashes of any length"},
      {"merkle.consistency", "LED-040", "lets a log shrink"},
      {"merkle.consistency", "LED-041", "ignores hashes that are left over or missing"},
      {"merkle.consistency", "LED-042", "never compares the roots"},
    };
    for (String[] each : accepted) {
      all.add(accepting("merkle", each[0], each[1], each[0] + ": " + each[2]));
    }
    all.add(
        ignoring(
            "merkle",
            "merkle.consistency",
            "merkle.consistency: compares the new root alone",
            input -> {
              boolean same = input.get("size1").equals(input.get("size2"));
              return same ? put(input, "root1_b64", input.get("root2_b64")) : input;
            }));
  }

  /** As Bitcoin does it. */
  private static JsonValue.Obj doubled(JsonValue.Obj input) {
    List<byte[]> level = new ArrayList<>();
    for (JsonValue entry : ((JsonValue.Arr) input.get("entries_b64")).items()) {
      level.add(
          Digest.sha256(
                  new byte[] {0}, StrictBase64.decode("entry", ((JsonValue.Str) entry).value()))
              .bytes());
    }
    if (level.isEmpty()) {
      level.add(Digest.sha256().bytes());
    }
    while (level.size() > 1) {
      List<byte[]> above = new ArrayList<>();
      for (int i = 0; i < level.size(); i += 2) {
        byte[] right = level.get(Math.min(i + 1, level.size() - 1));
        above.add(Digest.sha256(new byte[] {1}, level.get(i), right).bytes());
      }
      level = above;
    }
    return JsonValue.object().put("root_b64", StrictBase64.encode(level.getFirst())).build();
  }

  private void checkpoints() {
    String op = "checkpoint.verify";
    String[][] accepted = {
      {"LED-050", "notes of any form"},
      {"LED-051", "texts of any form"},
      {"LED-052", "any signature"},
      {"LED-053", "notes that others signed"},
      {"LED-054", "checkpoints of other logs"},
    };
    for (String[] each : accepted) {
      all.add(accepting("checkpoint", op, each[0], "checkpoint.verify: accepts " + each[1]));
    }
    all.add(
        telling(
            "checkpoint",
            op,
            "checkpoint.verify: drops extension lines",
            output -> put(output, "extensions", JsonValue.of(List.of()))));
  }

  // ---- L2

  /** Turns a refusal inside a judgement into an ALLOW. */
  private static Mutant allowing(String code, String what) {
    return telling(
        "guardian",
        "guardian.judge",
        "guardian.judge: " + what,
        output -> {
          if (JsonValue.of(code).equals(output.get("code"))) {
            output.remove("code");
            output.put("verdict", JsonValue.of("ALLOW"));
          }
          return output;
        });
  }

  private void guardian() {
    String[][] allowed = {
      {"GRD-101", "no rule means allowed"},
      {"GRD-102", "an unmet requirement is met"},
      {"GRD-104", "missing approvals are there"},
      {"GRD-201", "budgets have no end"},
      {"GRD-202", "no budget means unlimited"},
      {"GRD-203", "an unknown balance is zero"},
      {"GRD-301", "ignores the age of a request"},
      {"GRD-302", "ignores the hours"},
      {"GRD-303", "ignores rates"},
      {"GRD-304", "an unknown rate is zero"},
      {"GRD-305", "ignores the order of effects"},
      {"GRD-403", "ignores the params' schema"},
      {"GRD-404", "ignores the tool's resources"},
      {"GRD-406", "ignores the role's resources"},
      {"GRD-407", "ignores the sandbox profile"},
      {"GRD-408", "lets paths escape"},
      {"GRD-409", "ignores the environment"},
      {"GRD-410", "ignores the network"},
      {"GRD-721", "lets every subject into a run"},
    };
    for (String[] each : allowed) {
      all.add(allowing(each[0], each[1]));
    }
    all.add(
        telling(
            "guardian",
            "guardian.judge",
            "guardian.judge: every verdict is ALLOW",
            output -> put(output, "verdict", JsonValue.of("ALLOW"))));
    all.add(
        telling(
            "guardian",
            "guardian.judge",
            "guardian.judge: another decision document",
            output -> put(output, "decision", JsonValue.of(Digest.sha256().toString()))));
    all.add(
        ignoring(
            "guardian",
            "guardian.admit",
            "guardian.admit: ignores the clock",
            input -> put(input, "now", input.get("received_at"))));
    String[][] accepted = {
      {"guardian.admit", "CAN-060", "accepts any signature"},
      {"guardian.admit", "GRD-002", "ignores the size"},
      {"guardian.admit", "GRD-003", "lets a key act for another subject"},
      {"guardian.admit", "GRD-004", "takes requests from the future"},
      {"guardian.admit", "GRD-005", "takes old requests"},
      {"guardian.admit", "GRD-008", "lets any surface vouch"},
      {"guardian.admit", "GRD-602", "takes broken chains of delegation"},
      {"guardian.admit", "GRD-603", "lets delegations grow"},
      {"guardian.admit", "GRD-604", "ignores the expiry of delegations"},
      {"guardian.accounts", "GRD-007", "takes a nonce twice"},
      {"guardian.accounts", "GRD-011", "judges again what was served"},
      {"guardian.policy", "GRD-511", "takes a budget without a limit"},
      {"guardian.policy", "GRD-502", "takes unknown keys"},
      {"guardian.manifest", "GRD-420", "takes any schema"},
      {"guardian.output", "GRD-421", "takes any output"},
    };
    for (String[] each : accepted) {
      all.add(accepting("guardian", each[0], each[1], each[0] + ": " + each[2]));
    }
  }

  private void gate() {
    String op = "executor.gate";
    String[][] accepted = {
      {"EXE-001", "needs no decision"},
      {"EXE-002", "needs no intent"},
      {"EXE-003", "needs no effect"},
      {"EXE-004", "takes any type of document"},
      {"EXE-101", "never verifies the decision"},
      {"EXE-102", "never looks at the verdict"},
      {"EXE-103", "never verifies the intent"},
      {"EXE-104", "binds nothing"},
      {"EXE-105", "ignores the audience"},
      {"EXE-106", "ignores the holder"},
      {"EXE-107", "ignores the expiry"},
    };
    for (String[] each : accepted) {
      all.add(accepting("gate", op, each[0], "executor.gate: " + each[1]));
    }
    all.add(
        ignoring(
            "gate",
            op,
            "executor.gate: does not bind the run",
            input -> put(input, "run", JsonValue.of("run-1"))));
    all.add(
        ignoring(
            "gate",
            op,
            "executor.gate: does not bind the tenant",
            input -> put(input, "tenant", JsonValue.of("acme"))));
    all.add(
        ignoring(
            "gate",
            op,
            "executor.gate: ignores the incarnation",
            input ->
                put(
                    input,
                    "audience",
                    with((JsonValue.Obj) input.get("audience"), "incarnation", incarnation()))));
    all.add(
        ignoring(
            "gate",
            op,
            "executor.gate: no deputies",
            input -> {
              TreeMap<String, JsonValue> policy =
                  new TreeMap<>(((JsonValue.Obj) input.get("policy")).members());
              return put(
                  input,
                  "policy",
                  new JsonValue.Obj(put(policy, "execute_for", JsonValue.of(List.of()))));
            }));
    all.add(
        ignoring(
            "gate",
            op,
            "executor.gate: tolerates no skew",
            input ->
                JsonValue.of("2026-11-21T11:59:58.000Z").equals(input.get("now"))
                    ? put(input, "now", JsonValue.of("2026-11-21T11:59:57.000Z"))
                    : input));
  }

  private static JsonValue incarnation() {
    return ((JsonValue.Obj) Golden.input("gate/passes").get("audience")).get("incarnation");
  }

  private void receipts() {
    String op = "receipt.chain";
    all.add(
        ignoring(
            "receipt",
            op,
            "receipt.chain: drops the last receipt",
            input -> {
              List<JsonValue> receipts = ((JsonValue.Arr) input.get("receipts")).items();
              return put(
                  input,
                  "receipts",
                  JsonValue.of(receipts.subList(0, Math.max(0, receipts.size() - 1))));
            }));
    all.add(
        ignoring(
            "receipt",
            op,
            "receipt.chain: never looks at the closing",
            input -> without(input, "closing")));
    all.add(
        ignoring(
            "receipt",
            op,
            "receipt.chain: looks at the first receipt alone",
            input ->
                put(
                    without(input, "closing"),
                    "receipts",
                    JsonValue.of(
                        ((JsonValue.Arr) input.get("receipts"))
                            .items().stream().limit(1).toList()))));
    String[][] accepted = {
      {"EXE-951", "accepts any signature"},
      {"EXE-952", "mixes runs and tenants"},
      {"EXE-953", "binds nothing"},
      {"EXE-955", "follows no chain"},
      {"EXE-957", "takes a receipt twice"},
    };
    for (String[] each : accepted) {
      all.add(accepting("receipt", op, each[0], "receipt.chain: " + each[1]));
    }
    for (String member : List.of("lamport", "head", "receipts")) {
      all.add(
          telling(
              "receipt",
              op,
              "receipt.chain: tells another " + member,
              output -> put(output, member, JsonValue.of(-1))));
    }
  }

  // ---- L3

  /** Changes each step of a scenario that is of that kind. */
  private static Mutant stepping(String suites, String name, String word, Mutant.Change change) {
    return ignoring(
        suites,
        "executor.run",
        "executor.run: " + name,
        input ->
            put(
                input,
                "steps",
                each(
                    input.get("steps"),
                    step ->
                        JsonValue.of(word).equals(step.get("do")) ? change.apply(step) : step)));
  }

  /** Tells something else of each step. */
  private static Mutant showing(String suites, String name, Mutant.Change change) {
    return telling(
        suites,
        "executor.run",
        "executor.run: " + name,
        output -> put(output, "steps", each(output.get("steps"), change)));
  }

  /** Where the real one refuses so, it serves. */
  private static Mutant serving(String code, String name) {
    return showing(
            "executor adversarial",
            name,
            step -> {
              if (JsonValue.of(code).equals(step.get("code"))) {
                step.clear();
                step.put("status", JsonValue.of("succeeded"));
                step.put("ran", JsonValue.of(1));
              }
              return step;
            })
        .hinting(code);
  }

  private void executor() {
    all.add(
        stepping(
                "executor",
                "time stands still",
                "clock",
                step -> put(step, "seconds", JsonValue.of(0)))
            .hinting("EXE-107"));
    all.add(
        stepping(
                "executor",
                "a restart forgets nothing, for there is none",
                "tool",
                step ->
                    put(
                        step,
                        "behaviour",
                        JsonValue.object()
                            .put("does", "end")
                            .put("end", "succeeded")
                            .put("reason", "ok")
                            .put("message", "")
                            .put("output_b64", "eyJvayI6dHJ1ZX0=")
                            .put("media_type", "application/json")
                            .build()))
            .hinting("crashed", "EXE-401"));
    all.add(
        stepping(
                "executor",
                "a revocation changes nothing",
                "change",
                step ->
                    put(
                        step,
                        "detail",
                        JsonValue.object().put("kid", TestKeys.key("roy").kid()).build()))
            .hinting("CAN-055"));
    all.add(
        stepping(
                "executor adversarial",
                "whoever orders is the holder",
                "execute",
                step -> put(step, "signer", JsonValue.of("alice")))
            .hinting("EXE-106"));
    all.add(
        stepping(
                "executor adversarial",
                "forged documents are put right before they are looked at",
                "execute",
                step -> without(without(step, "edit_intent"), "edit_decision"))
            .hinting("EXE-101"));
    all.add(
        stepping(
                "adversarial",
                "every tenant sees everything",
                "fetch",
                step -> put(step, "tenant", JsonValue.of("acme")))
            .hinting("EXE-905"));
    all.add(
        ignoring(
                "adversarial",
                "executor.run",
                "executor.run: a budget without an end",
                input -> {
                  TreeMap<String, JsonValue> policy =
                      new TreeMap<>(((JsonValue.Obj) input.get("policy")).members());
                  policy.put(
                      "budgets",
                      each(policy.get("budgets"), b -> put(b, "limit", JsonValue.of(1000))));
                  return put(input, "policy", new JsonValue.Obj(policy));
                })
            .hinting("GRD-201"));
    String[][] served = {
      {"EXE-201", "never looks at the snapshot"},
      {"EXE-303", "runs prohibited tools"},
      {"EXE-304", "does without a driver"},
      {"EXE-305", "takes another sandbox"},
      {"EXE-306", "does without an input"},
      {"EXE-307", "consumes what it does not know"},
      {"EXE-308", "runs packages that are not what they were"},
      {"EXE-309", "works without a workspace where there is none"},
      {"EXE-310", "takes any tree for the pinned one"},
      {"EXE-311", "goes into a workspace in quarantine"},
      {"EXE-110", "one key for two effects"},
      {"EXE-111", "serves superseded intents"},
      {"EXE-112", "ignores the time of an order"},
      {"EXE-901", "appends to closed runs"},
      {"EXE-902", "lets anybody append"},
      {"EXE-904", "lets time go backwards"},
      {"EXE-905", "answers for what is foreign or unknown"},
      {"EXE-906", "takes any policy"},
      {"EXE-912", "decides with a revoked key"},
      {"GRD-007", "takes a nonce twice"},
      {"CAN-055", "takes requests of revoked keys"},
      {"LED-011", "goes on with a restored backup"},
    };
    for (String[] each : served) {
      all.add(serving(each[0], each[1]));
    }
    all.add(
        showing(
                "executor",
                "runs the tool again for a repeat",
                step ->
                    JsonValue.TRUE.equals(step.get("repeated"))
                        ? put(step, "ran", JsonValue.of(1))
                        : step)
            .hinting("repeated=Bool[value=true]"));
    all.add(
        showing(
                "executor",
                "says that what is in doubt succeeded",
                step ->
                    JsonValue.of("in_doubt").equals(step.get("status"))
                        ? put(step, "status", JsonValue.of("succeeded"))
                        : step)
            .hinting("in_doubt"));
    all.add(
        showing(
                "executor",
                "lets drift pass",
                step -> {
                  if (JsonValue.of("ERR_CONNECTOR_CONTRACT_DRIFT")
                      .equals(step.get("receipt_code"))) {
                    step.remove("receipt_code");
                    step.put("status", JsonValue.of("succeeded"));
                  }
                  return step;
                })
            .hinting("DRIFT"));
    all.add(
        showing(
                "executor",
                "lamport counts receipts, not what they consume",
                step ->
                    JsonValue.of(3).equals(step.get("lamport"))
                        ? put(step, "lamport", JsonValue.of(1))
                        : step)
            .hinting("lamport=Num[value=3.0]"));
    for (String member : List.of("workspace_before", "workspace_after")) {
      all.add(
          showing("executor", "does not tell the " + member, step -> without(step, member))
              .hinting(member));
    }
    all.add(
        telling(
                "executor",
                "executor.run",
                "executor.run: keeps the workspaces of closed runs",
                output ->
                    output.get("workspaces") == null
                        ? output
                        : put(
                            output,
                            "workspaces",
                            JsonValue.object().put("acme/run-1", "sha256:00").build()))
            .hinting("workspaces"));
    all.add(
        telling(
            "executor",
            "executor.run",
            "executor.run: a receipt is not journalled",
            output -> {
              TreeMap<String, JsonValue> events =
                  new TreeMap<>(((JsonValue.Obj) output.get("events")).members());
              events.replaceAll((_, kinds) ->
                  JsonValue.of(
                      ((JsonValue.Arr) kinds)
                          .items().stream()
                              .filter(kind -> !kind.equals(JsonValue.of("receipt.signed")))
                              .toList()));
              return put(output, "events", new JsonValue.Obj(events));
            }));
  }

  private void bundles() {
    String op = "bundle.verify";
    String[][] accepted = {
      {"RPL-010", "archives of any form"},
      {"RPL-015", "entries whose checksum differs"},
      {"RPL-020", "an older format"},
      {"RPL-022", "content that is not what its name says"},
      {"RPL-023", "bundles that lack something"},
      {"RPL-024", "bundles with something more"},
      {"RPL-025", "false statements"},
      {"RPL-032", "events that do not follow"},
      {"RPL-033", "events that are not in the log"},
      {"RPL-034", "runs whose tail is cut off"},
      {"RPL-035", "open runs where closed ones are asked for"},
      {"RPL-040", "checkpoints that anybody signed"},
      {"RPL-041", "installations that are not pinned"},
      {"RPL-042", "forks"},
      {"EXE-951", "documents that anybody signed"},
      {"EXE-981", "corrections of the clock for any place of the log"},
      {"EXE-982", "time that goes back by itself"},
    };
    for (String[] each : accepted) {
      all.add(
          accepting("bundle adversarial", op, each[0], "bundle.verify: accepts " + each[1])
              .hinting(each[0]));
    }
    all.add(
        telling(
            "bundle",
            op,
            "bundle.verify: says that everything is pinned",
            output -> put(output, "pinned", JsonValue.TRUE)));
    all.add(
        telling(
                "runs",
                "bundle.replay",
                "bundle.replay: never finds a difference",
                output ->
                    put(
                        put(output, "state", JsonValue.of("COMPLETE")),
                        "divergences",
                        JsonValue.of(List.of())))
            .hinting("DIVERGED"));
    all.add(
        ignoring(
                "runs",
                "bundle.replay",
                "bundle.replay: never runs a tool again",
                input -> without(input, "live"))
            .hinting("DIVERGED"));
  }
}
