package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import dev.writ.verify.bundle.Unpacked;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * Whole bundles changed by a grammar: what a holder of every key can write (documents, signatures,
 * events, their order), what a holder of the file can (entries, lines, proofs), and what no tool of
 * ours writes (archives). A seed makes one case.
 */
final class BundleGrammar {
  private static final List<Long> MILLIS =
      List.of(1L, -1L, 1000L, -2001L, 59_000L, 61_000L, -61_000L, 300_000L, 86_400_000L);

  private static final List<String> KINDS =
      List.of(
          EventKind.RUN_OPENED,
          EventKind.REQUEST_RECEIVED,
          EventKind.APPROVAL_RECEIVED,
          EventKind.DECISION_MADE,
          EventKind.INTENT_ISSUED,
          EventKind.EFFECT_DISPATCHED,
          EventKind.EFFECT_FINISHED,
          EventKind.EFFECT_REFUSED,
          EventKind.RECEIPT_SIGNED,
          EventKind.RUN_CLOSED,
          EventKind.DOUBT_RESOLVED,
          EventKind.KEY_ENROLLED,
          EventKind.KEY_REVOKED,
          EventKind.TOOL_REVOKED,
          EventKind.TOOL_STAGED,
          "no.kind");

  /**
   * One case.
   *
   * @param single whether one thing alone was changed, so that one code is right
   */
  record Case(String what, boolean single, JsonValue.Obj input) {}

  private final Random random;
  private final List<byte[]> bundles;
  private final List<String> pool = new ArrayList<>();
  private final TreeMap<String, List<JsonValue>> members = new TreeMap<>();
  private final StringBuilder what = new StringBuilder();
  private int changes;

  private BundleGrammar(long seed, List<byte[]> bundles) {
    this.random = new Random(seed);
    this.bundles = bundles;
  }

  static Case of(long seed, List<byte[]> bundles) {
    return new BundleGrammar(seed, bundles).make();
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void did(String change) {
    changes++;
    what.append(what.isEmpty() ? "" : "; ").append(change);
  }

  private Case make() {
    byte[] bundle = pick(bundles);
    TreeMap<String, byte[]> entries;
    int level = random.nextInt(10);
    try {
      entries = level < 7 ? forged(bundle) : Unpacked.entries(bundle);
    } catch (WritException | IllegalArgumentException | ClassCastException e) {
      // What cannot even be written, such as two signatures by one key.
      entries = Unpacked.entries(bundle);
      what.append(" (not written) ");
    }
    if (level >= 7 && level < 9 || random.nextInt(12) == 0) {
      entry(entries);
    }
    byte[] file = Unpacked.pack(entries);
    if (level == 9) {
      file = archive(entries, file);
    }
    var input = JsonValue.object().put("bundle_b64", StrictBase64.encode(file));
    options(input, bundle);
    return new Case(what.toString(), changes == 1, input.build());
  }

  // ---- by who holds every key

  private TreeMap<String, byte[]> forged(byte[] bundle) {
    Remade remade = FullRun.remade(bundle);
    remade
        .documents()
        .forEach(id -> {
          JsonChanges.texts(remade.document(id), pool);
          JsonChanges.members(remade.document(id), members);
          pool.add(id.toString());
        });
    int count = random.nextInt(4) == 0 ? 2 : 1;
    for (int i = 0; i < count; i++) {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> event(remade);
        case 3 -> everywhere(remade);
        case 4 -> later(remade);
        case 5 -> order(remade);
        default -> document(remade);
      }
    }
    if (random.nextInt(4) == 0) {
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        remade.others.put(random.nextInt(remade.steps.size() + 1), 1 + random.nextInt(5));
      }
      what.append("; among others ").append(remade.others);
    }
    if (random.nextInt(5) > 0) {
      remade.place();
    }
    return remade.entries();
  }

  private void document(Remade remade) {
    Digest id = pick(remade.documents());
    String type = remade.type(id).replaceAll(".*writ\\.|\\.v1.*", "");
    switch (random.nextInt(8)) {
      case 0 -> {
        List<String> kids = kids(remade.kids(id));
        remade.signedBy(id, kids);
        did(type + " signed by " + kids);
      }
      case 1 -> {
        List<JsonValue> links = links(remade.document(id));
        if (!links.isEmpty()) {
          delegation(remade, id, links);
          return;
        }
        change(remade, id, type);
      }
      default -> change(remade, id, type);
    }
  }

  private void change(Remade remade, Digest id, String type) {
    JsonChanges changes = new JsonChanges(random, pool, members);
    remade.change(
        id,
        document -> changes.change(document) instanceof JsonValue.Obj changed ? changed : document);
    did(type + changes.what);
  }

  /** One text by another, wherever it stands: who asks, which tool, which run, when. */
  private void everywhere(Remade remade) {
    List<JsonValue> values = List.of();
    while (values.size() < 2 || !(values.getFirst() instanceof JsonValue.Str)) {
      values = members.get(pick(List.copyOf(members.keySet())));
    }
    if (pick(values) instanceof JsonValue.Str from && pick(values) instanceof JsonValue.Str to) {
      remade.replace(from.value(), to.value());
      did(from + " is " + to + " everywhere");
      changes++;
    }
  }

  /** A pause, or time that goes back, before a step. */
  private void later(Remade remade) {
    int from = random.nextInt(remade.steps.size());
    long millis = pick(MILLIS);
    remade.shift(from, millis);
    did("from event " + from + " on by " + millis + " ms");
    changes++;
  }

  /** The events of one request left out, or put elsewhere as a whole or among those of another. */
  private void order(Remade remade) {
    List<Remade.Step> steps = remade.steps;
    TreeMap<Digest, List<Remade.Step>> requests = new TreeMap<>();
    for (int i = 0; i < steps.size(); i++) {
      Remade.Step step = steps.get(i);
      remade
          .requestOf(i)
          .ifPresent(r -> requests.computeIfAbsent(r, _ -> new ArrayList<>()).add(step));
    }
    Digest request = pick(List.copyOf(requests.keySet()));
    List<Remade.Step> moved = requests.get(request);
    int way = random.nextInt(3);
    steps.removeAll(moved);
    int at = 2 + random.nextInt(steps.size() - 1);
    if (way == 1) {
      steps.addAll(at, moved);
    } else if (way == 2) {
      for (Remade.Step step : moved) {
        at = at + random.nextInt(Math.min(6, steps.size() - at + 1));
        steps.add(at++, step);
      }
    }
    remade.chain();
    did(
        "request "
            + request.hex().substring(0, 6)
            + List.of(" dropped", " moved", " mixed").get(way));
    changes++;
  }

  private List<String> kids(List<String> now) {
    String other = TestKeys.key(pick(FullRun.PARTIES).name()).kid();
    return switch (random.nextInt(3)) {
      case 0 -> {
        List<String> more = new ArrayList<>(now);
        more.add(other);
        yield more;
      }
      default -> List.of(other);
    };
  }

  private static List<JsonValue> links(JsonValue.Obj document) {
    return document.get("delegations") instanceof JsonValue.Arr list ? list.items() : List.of();
  }

  private void delegation(Remade remade, Digest id, List<JsonValue> links) {
    Envelope link = Envelope.parse(Jcs.write(links.getFirst()));
    JsonChanges changes = new JsonChanges(random, pool);
    JsonValue document = changes.change(link.document());
    SigningKey signer = FullRun.key(link.signatures().getFirst().kid());
    if (random.nextInt(4) == 0) {
      signer = TestKeys.key(pick(FullRun.PARTIES).name());
    }
    List<JsonValue> next = new ArrayList<>(links);
    next.set(0, Envelope.sign(link.payloadType(), document, signer).toJson());
    if (random.nextInt(6) == 0) {
      next.add(links.getFirst());
    }
    remade.change(
        id,
        request -> {
          TreeMap<String, JsonValue> members = new TreeMap<>(request.members());
          members.put("delegations", JsonValue.of(next));
          return new JsonValue.Obj(members);
        });
    did("delegation" + changes.what);
  }

  private void event(Remade remade) {
    List<Remade.Step> steps = remade.steps;
    int at = random.nextInt(steps.size());
    Remade.Step step = steps.get(at);
    String place = step.kind + " " + at;
    switch (random.nextInt(12)) {
      case 0 -> {
        steps.remove(at);
        did(place + " dropped");
      }
      case 1 -> {
        steps.add(random.nextInt(steps.size() + 1), step.copy());
        did(place + " repeated");
      }
      case 2 -> {
        int to = random.nextInt(steps.size());
        steps.add(to, steps.remove(at));
        did(place + " moved to " + to);
      }
      case 3 -> {
        if (at > 0) {
          steps.add(at - 1, steps.remove(at));
        }
        did(place + " swapped");
      }
      case 4 -> {
        step.at = step.at.plusMillis(pick(MILLIS));
        did(place + " at " + step.at);
      }
      case 5 -> {
        Instant other = pick(steps).at;
        step.at = other;
        did(place + " at " + other);
      }
      case 6 -> {
        step.kind = pick(KINDS);
        did(place + " is " + step.kind);
      }
      case 7 -> {
        step.body = random.nextBoolean() ? pick(steps).body : pick(remade.documents());
        did(place + " body");
      }
      case 8 -> {
        step.seed = step.seed.isPresent() ? Optional.empty() : Optional.of("0".repeat(64));
        did(place + " seed");
      }
      case 9 -> {
        if (step.journal == Journal.CONSUMED) {
          step.run = "run-1";
        } else {
          step.tenant = "other";
        }
        did(place + " of another run");
      }
      default -> systemChange(remade);
    }
    if (random.nextInt(3) == 0) {
      remade.chain();
      changes++;
    }
  }

  /** Brings in a change of the system run: what it ends must not be used behind it. */
  private void systemChange(Remade remade) {
    String name = pick(FullRun.PARTIES).name();
    int at = 1 + random.nextInt(remade.steps.size());
    Remade.Step like = remade.steps.get(at - 1).copy();
    like.journal = Journal.SYSTEM;
    like.tenant = "writ";
    like.run = "system";
    like.seed = Optional.empty();
    JsonValue.Obj detail;
    switch (random.nextInt(8)) {
      case 0 -> {
        like.kind = EventKind.TOOL_REVOKED;
        String tool = pick(List.of("mail", "words", "calc"));
        detail = Plot.json("{\"tool\":\"" + tool + "\",\"version\":\"1.0.0\"}");
      }
      case 1 -> {
        like.kind = EventKind.KEY_ENROLLED;
        detail = new TestParty("mallory", pick(KeyRole.ALL), Optional.empty()).trusted().toJson();
      }
      case 2 -> {
        like.kind =
            pick(
                List.of(
                    EventKind.RUNTIME_APPROVED,
                    EventKind.RUNTIME_APPROVED,
                    EventKind.RUNTIME_WITHDRAWN));
        detail = Plot.json("{\"language\":\"python\",\"version\":\"3.13.5\"}");
      }
      case 3 -> {
        like.kind = EventKind.LEDGER_INCARNATED;
        detail = JsonValue.object().put("incarnation", (long) random.nextInt(4)).build();
      }
      case 4 -> {
        like.kind = EventKind.CLOCK_CORRECTED;
        Instant from = like.at;
        like.at = from.plusMillis(pick(MILLIS));
        detail = correction(from, like.at, at);
      }
      case 5 -> {
        like.kind = EventKind.TOOL_STAGED;
        detail = staging();
      }
      case 6 -> {
        like.kind = EventKind.TOOL_VALIDATED;
        detail = new ToolValidation(Plot.WORDS.ref(), "v", List.of()).toJson();
      }
      default -> {
        like.kind = EventKind.KEY_REVOKED;
        detail = JsonValue.object().put("kid", TestKeys.key(name).kid()).build();
      }
    }
    like.body =
        remade.bring(
            SystemChange.TYPE,
            new SystemChange(like.kind, detail, like.at).toJson(),
            List.of(TestKeys.key("operator").kid()));
    remade.steps.add(at, like);
    did(like.kind + " of " + name + " brought in at " + at);
  }

  private JsonValue.Obj correction(Instant from, Instant to, int size) {
    boolean back = random.nextInt(8) == 0 ? random.nextBoolean() : to.isBefore(from);
    return JsonValue.object()
        .put("from", from)
        .put("to", to)
        .put("tree_size", (long) size)
        .putIfPresent("incarnation", back ? Optional.of(2L) : Optional.empty(), JsonValue::of)
        .build();
  }

  private JsonValue.Obj staging() {
    RolloutStage stage = pick(RolloutStage.ALL);
    Optional<Canary> canary =
        stage == RolloutStage.CANARY
            ? Optional.of(
                new Canary(
                    List.of(pick(List.of("acme", "other"))),
                    random.nextInt(101),
                    random.nextBoolean()))
            : Optional.empty();
    return new ToolStaging(Plot.WORDS.ref(), stage, canary).toJson();
  }

  // ---- by who holds the file

  private void entry(TreeMap<String, byte[]> entries) {
    String name = pick(List.copyOf(entries.keySet()));
    byte[] bytes = entries.get(name);
    switch (random.nextInt(17)) {
      case 6, 7, 8 -> signature(entries);
      case 9, 10 -> inclusion(entries);
      case 0 -> {
        entries.remove(name);
        did(name + " removed");
      }
      case 1 -> {
        String other = pick(List.copyOf(entries.keySet()));
        entries.put(other, bytes);
        did(name + " in the place of " + other);
      }
      case 2 -> {
        String other = name.replace('a', 'b').replace('0', '1');
        entries.put(other, entries.remove(name));
        did(name + " is called " + other);
      }
      case 3 -> {
        entries.put("log/consistency.json", consistency());
        did("log/consistency.json " + text(entries.get("log/consistency.json")));
      }
      case 4 -> {
        byte[] flipped = bytes.clone();
        if (flipped.length > 0) {
          flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
        }
        entries.put(name, flipped);
        did(name + " flipped");
      }
      case 5 -> {
        entries.put(name, Arrays.copyOf(bytes, random.nextInt(bytes.length + 3)));
        did(name + " cut or padded");
      }
      default -> written(entries, notABlob(entries));
    }
  }

  /** Another proof of the events: its hashes, or where a journal's events lie. */
  private void inclusion(TreeMap<String, byte[]> entries) {
    String name = "log/inclusion.json";
    JsonValue.Obj proof = (JsonValue.Obj) Jcs.parse(entries.get(name));
    String member = pick(List.of("hashes", "hashes", "run", "system", "consumed"));
    List<JsonValue> items = new ArrayList<>(((JsonValue.Arr) proof.get(member)).items());
    int at = random.nextInt(items.size() + 1);
    int way = random.nextInt(5);
    if (way == 0 || at == items.size()) {
      items.add(at, items.isEmpty() ? hash() : pick(items));
    } else if (way == 1) {
      items.remove(at);
    } else if (way == 2) {
      items.add(random.nextInt(items.size()), items.remove(at));
    } else if (items.get(at) instanceof JsonValue.Arr range) {
      items.remove(at);
      items.addAll(at, ranges(range.items()));
    } else {
      items.set(at, hash());
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(proof.members());
    members.put(member, JsonValue.of(items));
    entries.put(name, Jcs.write(new JsonValue.Obj(members)));
    did(name + " " + member + " " + way + " at " + at);
  }

  private JsonValue hash() {
    return JsonValue.of(Digest.sha256(new byte[] {(byte) random.nextInt()}).toString());
  }

  /** The same indexes in two ranges, or others. */
  private List<JsonValue> ranges(List<JsonValue> range) {
    long first = (long) ((JsonValue.Num) range.get(0)).value();
    long count = (long) ((JsonValue.Num) range.get(1)).value();
    return switch (random.nextInt(4)) {
      case 0 -> List.of(range(first, 1), range(first + 1, count - 1));
      case 1 -> List.of(range(first + random.nextInt(3) - 1, count));
      case 2 -> List.of(range(first, count + random.nextInt(3) - 1));
      default -> List.of(range(first, count), range(first + count, 0));
    };
  }

  private static JsonValue range(long first, long count) {
    return JsonValue.of(List.of(JsonValue.of(first), JsonValue.of(count)));
  }

  /** Other signatures under a document, which do not change its id. */
  private void signature(TreeMap<String, byte[]> entries) {
    List<String> documents =
        entries.keySet().stream().filter(name -> name.startsWith("documents/")).toList();
    String name = pick(documents);
    try {
      JsonValue.Obj envelope = (JsonValue.Obj) Jcs.parse(entries.get(name));
      List<JsonValue> signatures = new ArrayList<>(signatures(envelope));
      List<JsonValue> others = signatures((JsonValue.Obj) Jcs.parse(entries.get(pick(documents))));
      JsonValue.Obj first = (JsonValue.Obj) signatures.getFirst();
      byte[] sig = StrictBase64.decode("sig", ((JsonValue.Str) first.get("sig")).value());
      int way = random.nextInt(8);
      switch (way) {
        case 0 -> signatures.set(0, signature(first.get("keyid"), malleated(sig)));
        case 1 -> signatures.set(0, others.getFirst());
        case 2 -> signatures.add(random.nextInt(2), others.getFirst());
        case 3 -> signatures.add(first);
        case 4 -> signatures.clear();
        case 5 -> signatures.set(0, signature(first.get("keyid"), Arrays.copyOf(sig, 63)));
        case 6 ->
            signatures.set(
                0,
                signature(
                    first.get("keyid"),
                    StrictBase64.decode(
                        "sig",
                        ((JsonValue.Str) ((JsonValue.Obj) others.getFirst()).get("sig")).value())));
        default -> {
          String other = TestKeys.key(pick(FullRun.PARTIES).name()).kid();
          signatures.set(0, signature(JsonValue.of(other), sig));
        }
      }
      TreeMap<String, JsonValue> members = new TreeMap<>(envelope.members());
      members.put("signatures", JsonValue.of(signatures));
      entries.put(name, Jcs.write(new JsonValue.Obj(members)));
      did(name + " signatures " + way);
    } catch (WritException | ClassCastException e) {
      did(name + " (no envelope)");
    }
  }

  private static List<JsonValue> signatures(JsonValue.Obj envelope) {
    return ((JsonValue.Arr) envelope.get("signatures")).items();
  }

  private static JsonValue signature(JsonValue keyid, byte[] sig) {
    return JsonValue.object().put("keyid", keyid).put("sig", StrictBase64.encode(sig)).build();
  }

  /** S + L, which holds under the equation and not under the rule (spec/signatures.md). */
  private static byte[] malleated(byte[] sig) {
    BigInteger order =
        BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    byte[] turned = new byte[32];
    for (int i = 0; i < 32; i++) {
      turned[i] = sig[63 - i];
    }
    byte[] sum = new BigInteger(1, turned).add(order).toByteArray();
    byte[] out = sig.clone();
    for (int i = 0; i < 32; i++) {
      out[32 + i] = i < sum.length ? sum[sum.length - 1 - i] : 0;
    }
    return out;
  }

  private String notABlob(TreeMap<String, byte[]> entries) {
    return pick(
        entries.keySet().stream()
            .filter(name -> !name.startsWith("blobs/") && !name.contains("/files/"))
            .toList());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private byte[] consistency() {
    long size1 = random.nextInt(80);
    long size2 = random.nextInt(80);
    List<JsonValue> path = new ArrayList<>();
    for (int i = random.nextInt(9); i > 0; i--) {
      path.add(JsonValue.of(Digest.sha256(new byte[] {(byte) i}).toString()));
    }
    JsonValue proof =
        JsonValue.object()
            .put("path", JsonValue.of(path))
            .put("size1", size1)
            .put("size2", size2)
            .build();
    return Jcs.write(random.nextBoolean() ? proof : new JsonChanges(random, names()).change(proof));
  }

  private static List<String> names() {
    return List.of("path", "size1", "run", "acme", "2026-11-21T12:00:00.000Z", "sha256:00");
  }

  /** Another text in a text: of JSON, of a line, of the note. */
  private void written(TreeMap<String, byte[]> entries, String name) {
    String text = text(entries.get(name));
    if (name.endsWith(".jsonl")) {
      List<String> lines = new ArrayList<>(text.lines().toList());
      if (lines.isEmpty()) {
        lines.add("{}");
      }
      int at = random.nextInt(lines.size());
      String next = json(lines.get(at), name + " line " + (at + 1));
      lines.set(at, next);
      entries.put(name, (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    } else if (name.endsWith(".txt")) {
      entries.put(name, note(entries.get(name)));
    } else {
      entries.put(name, json(text, name).getBytes(StandardCharsets.UTF_8));
    }
  }

  private String json(String text, String place) {
    int way = random.nextInt(8);
    try {
      switch (way) {
        case 0 -> {
          did(place + " with a space");
          return text.replaceFirst("[:,]", "$0 ");
        }
        case 1 -> {
          did(place + " with an escape");
          return text.replaceFirst("e", "\\\\u0065");
        }
        case 2 -> {
          did(place + " with a member twice");
          return text.replaceFirst("\\{", "{\"a\":1,\"a\":1,");
        }
        case 3 -> {
          did(place + " with another number");
          return text.replaceFirst(
              "([:\\[,])([0-9]+)([,}\\]])",
              "$1" + pick(List.of("1e0", "01", "-0", "1.0", "9007199254740993", "1E400")) + "$3");
        }
        default -> {
          JsonValue value = Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
          List<String> texts = new ArrayList<>(names());
          JsonChanges.texts(value, texts);
          JsonChanges changes = new JsonChanges(random, texts);
          String changed = text(Jcs.write(changes.change(value)));
          did(place + changes.what);
          return changed;
        }
      }
    } catch (WritException e) {
      did(place + " (no JSON)");
      return text + " ";
    }
  }

  private byte[] note(byte[] bytes) {
    Checkpoint was = Checkpoint.parse(bytes);
    String text = text(bytes);
    switch (random.nextInt(6)) {
      case 0 -> {
        String name = pick(FullRun.PARTIES).name();
        did("checkpoint signed by " + name);
        return Checkpoint.sign(was.origin(), was.size(), was.root(), TestKeys.key(name)).toBytes();
      }
      case 1 -> {
        did("checkpoint of another size");
        return Checkpoint.sign(
                was.origin(), was.size() + random.nextInt(3) - 1, was.root(), TestKeys.key("log"))
            .toBytes();
      }
      case 2 -> {
        did("checkpoint with another line");
        return text.replaceFirst("\n\n", "\nmore\n\n").getBytes(StandardCharsets.UTF_8);
      }
      case 3 -> {
        did("checkpoint signed twice");
        return (text + text.substring(text.indexOf('\u2014'))).getBytes(StandardCharsets.UTF_8);
      }
      case 4 -> {
        String size = pick(List.of("9007199254740991", "9007199254740992", "01", "-1", "1e3"));
        did("checkpoint of size " + size);
        return text.replace("\n" + was.size() + "\n", "\n" + size + "\n")
            .getBytes(StandardCharsets.UTF_8);
      }
      default -> {
        byte[] flipped = bytes.clone();
        flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
        did("checkpoint flipped");
        return flipped;
      }
    }
  }

  private byte[] archive(TreeMap<String, byte[]> entries, byte[] file) {
    if (random.nextInt(4) > 0) {
      ArchiveChanges changes = new ArchiveChanges(random);
      byte[] packed = changes.pack(entries);
      did(changes.what);
      return packed;
    }
    byte[] changed = file.clone();
    int at = random.nextInt(changed.length);
    changed[at] ^= (byte) (1 << random.nextInt(8));
    did("byte " + at + " flipped");
    return changed;
  }

  // ---- what the auditor brings

  private void options(ObjectBuilder input, byte[] bundle) {
    if (random.nextInt(8) == 0) {
      input.put("closed", true);
      did("closed");
    }
    if (random.nextInt(3) == 0) {
      pins(input);
    }
    if (random.nextInt(8) == 0) {
      byte[] own = Unpacked.entries(bundle).get("log/checkpoint.txt");
      byte[] kept = random.nextBoolean() ? own : note(own);
      input.put("checkpoint", text(kept));
      did("kept");
    }
  }

  private void pins(ObjectBuilder input) {
    TreeMap<String, TestParty> parties = new TreeMap<>();
    FullRun.PARTIES.forEach(party -> parties.put(party.name(), party));
    List<JsonValue> keys = new ArrayList<>();
    String changed = random.nextInt(3) == 0 ? "" : pick(List.copyOf(parties.keySet()));
    parties.forEach((name, party) -> {
      TrustedKey key = party.trusted();
      keys.add(name.equals(changed) ? pinned(key).toJson() : key.toJson());
    });
    if (!changed.isEmpty()) {
      did("pin of " + changed);
    }
    if (random.nextInt(6) == 0) {
      JsonChanges changes = new JsonChanges(random, pins(keys));
      int at = random.nextInt(keys.size());
      keys.set(at, changes.change(keys.get(at)));
      did("pin " + at + changes.what);
    }
    input.put("keys", JsonValue.of(keys));
    if (random.nextInt(6) == 0) {
      String role = pick(KeyRole.ALL).text();
      input.put("required_algorithms", Plot.json("{\"" + role + "\":[\"Ed25519\",\"ML-DSA-65\"]}"));
      did("algorithms of " + role);
    }
  }

  private static List<String> pins(List<JsonValue> keys) {
    List<String> texts = new ArrayList<>();
    keys.forEach(key -> JsonChanges.texts(key, texts));
    return texts;
  }

  private TrustedKey pinned(TrustedKey key) {
    Instant time = Plot.START.plusMillis(random.nextInt(8_000_000) - 2_000_000);
    Optional<Instant> revoked = random.nextBoolean() ? Optional.of(time) : Optional.empty();
    Instant from = random.nextInt(4) == 0 ? time : key.notBefore();
    Instant end = random.nextInt(4) == 0 && from.isBefore(time) ? time : key.notAfter().get();
    KeyRole role = random.nextInt(8) == 0 ? pick(KeyRole.ALL) : key.role();
    String subject = random.nextInt(8) == 0 ? "somebody" : key.subject();
    return new TrustedKey(key.key(), role, key.tenant(), subject, from, Optional.of(end), revoked);
  }
}
