package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPasskey;
import dev.writ.guardian.document.Approval;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.SignedNote;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.verify.bundle.Unpacked;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Matcher;

/**
 * What is not in a bundle and decides about it: passkeys and what browsers state of them, the notes
 * of witnesses, and the proof of an installation's root. Changed before it is signed, where a
 * signer could write it, or as it is. A seed makes one case.
 */
final class BroughtGrammar {
  private static final byte[] PAYLOAD = Jcs.write(JsonValue.object().put("n", 1).build());

  private static final List<String> ORIGINS =
      List.of(
          "https://console.example.org",
          "https://console.example.org:8443",
          "https://console.example.org:0",
          "https://console.example.org:65535",
          "https://console.example.org:65536",
          "https://console.example.org:08443",
          "https://console.example.org:",
          "https://console.example.org.",
          "https://eu.console.example.org",
          "https://.console.example.org",
          "https://a_b.console.example.org",
          "https://-a.console.example.org",
          "https://A.console.example.org",
          "https://CONSOLE.example.org",
          "https://xn--a.console.example.org",
          "https://\u00fc.console.example.org",
          "https://1.console.example.org",
          "https://a..console.example.org",
          "https://evilconsole.example.org",
          "https://console.example.org/",
          "https://console.example.org?",
          "https://console.example.org#",
          "https://a@console.example.org",
          "https://a\\\\.console.example.org",
          "https://a/.console.example.org",
          "https://a%2e.console.example.org",
          "HTTPS://console.example.org",
          "http://console.example.org",
          "https:console.example.org",
          "https:///console.example.org",
          " https://console.example.org",
          "https://console.example.org\\u0000",
          "https://console.example.org\\n",
          "https://localhost",
          "http://localhost",
          "http://localhost:80",
          "http://localhost:443",
          "http://a.localhost:443",
          "https://console.example.org:44\\u0663",
          "https://" + "a".repeat(63) + ".console.example.org",
          "https://" + "a".repeat(64) + ".console.example.org",
          "https://" + "a.".repeat(120) + "console.example.org",
          "null",
          "");

  private static final List<String> SITES =
      List.of(
          "console.example.org",
          "localhost",
          "example.org",
          "org",
          "a.1",
          "a.1b",
          "1.b",
          "1.2.3.4",
          "a-.org",
          "-a.org",
          "a--b.org",
          "xn--a.org",
          "a_b.org",
          "A.org",
          "a.org.",
          ".a.org",
          "a..org",
          "a.org\n",
          "\u00fc.org",
          "a".repeat(63) + ".org",
          "a".repeat(64) + ".org",
          "a.".repeat(125) + "org",
          "a.".repeat(124) + "xorg",
          "localhost.localdomain",
          "foo.localhost",
          "");

  /** Between any two bytes of a text: what parsers split, trim, or take for something else. */
  private static final List<String> SPLINTERS =
      List.of(
          "\n",
          "\r",
          "\n\n",
          " ",
          "\t",
          "+",
          "=",
          "/",
          "\u0000",
          "\u2014",
          "\u2014 ",
          "\u00a0",
          "\u2028",
          "\u0085",
          "\ufeff",
          "0",
          "1",
          "-",
          "9",
          "A",
          "\u00fc",
          "\u0661",
          "\n\u2014 x AAAAAA==\n");

  private static final List<Long> SECONDS =
      List.of(0L, 1L, 253402300799L, 253402300800L, 1L << 53, Long.MAX_VALUE, -1L);

  /**
   * One case.
   *
   * @param op of the adapters
   */
  record Case(String what, String op, JsonValue.Obj input) {}

  private final Random random;
  private final StringBuilder what = new StringBuilder();

  private BroughtGrammar(long seed) {
    this.random = new Random(seed);
  }

  static Case of(long seed) {
    BroughtGrammar grammar = new BroughtGrammar(seed);
    return switch ((int) Math.floorMod(seed, 5L)) {
      case 0 -> grammar.key();
      case 1 -> grammar.assertion();
      case 2 -> grammar.cosignature();
      case 3 -> grammar.witnessed();
      default -> grammar.installation();
    };
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void did(String change) {
    what.append(what.isEmpty() ? "" : "; ").append(change);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** A splinter put in, a piece left out, said twice or elsewhere, or a character by another. */
  private String spoiled(String text) {
    if (text.isEmpty()) {
      return pick(SPLINTERS);
    }
    int at = random.nextInt(text.length());
    int end = Math.min(text.length(), at + 1 + random.nextInt(1 << random.nextInt(6)));
    int way = random.nextInt(5);
    did("text " + way + " at " + at + " to " + end);
    return switch (way) {
      case 0 -> text.substring(0, at) + pick(SPLINTERS) + text.substring(at);
      case 1 -> text.substring(0, at) + text.substring(end);
      case 2 -> text.substring(0, end) + text.substring(at);
      case 3 -> text.substring(0, at) + pick(SPLINTERS) + text.substring(at + 1);
      default -> lines(text);
    };
  }

  private String lines(String text) {
    List<String> lines = new ArrayList<>(List.of(text.split("\n", -1)));
    int at = random.nextInt(lines.size());
    String line = random.nextBoolean() ? lines.remove(at) : lines.get(at);
    lines.add(random.nextInt(lines.size() + 1), line);
    return String.join("\n", lines);
  }

  private byte[] spoiled(byte[] bytes) {
    byte[] changed = bytes.clone();
    int way = random.nextInt(3);
    did("bytes " + way);
    if (way == 0 && changed.length > 0) {
      changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
      return changed;
    }
    return Arrays.copyOf(changed, Math.max(0, changed.length + (way == 1 ? 1 : -1)));
  }

  // ---- passkeys

  private Case key() {
    String site = random.nextInt(6) == 0 ? spoiled(TestPasskey.SITE) : pick(SITES);
    JsonValue jwk = new TestPasskey("rita", site).jwk();
    if (random.nextInt(3) == 0) {
      JsonChanges changes = new JsonChanges(random, List.of("kty", "crv", "OKP", "P-256", "kid"));
      jwk = changes.change(jwk);
      did(changes.what);
    }
    did("site " + site);
    return new Case(what.toString(), "key.enrol", JsonValue.object().put("jwk", jwk).build());
  }

  private Case assertion() {
    TestPasskey rita =
        new TestPasskey("rita", random.nextInt(4) == 0 ? "localhost" : TestPasskey.SITE);
    String challenge = TestPasskey.challenge(Approval.TYPE, PAYLOAD);
    String stated = statement(rita.clientData(challenge));
    byte[] data = rita.authenticatorData(TestPasskey.PERSON);
    if (random.nextInt(4) == 0) {
      data = rita.authenticatorData(random.nextInt(256));
      did("flags");
    }
    if (random.nextInt(6) == 0) {
      data = spoiled(data);
    }
    if (random.nextInt(6) == 0) {
      byte[] more = pick(List.of(new byte[] {(byte) 0xa0}, new byte[1], new byte[20]));
      data = Arrays.copyOf(data, data.length + more.length);
      System.arraycopy(more, 0, data, data.length - more.length, more.length);
      did("more data");
    }
    byte[] client = stated.getBytes(StandardCharsets.UTF_8);
    byte[] der = der(rita.numbers(data, client));
    JsonValue entry = TestPasskey.entry(data, client, der);
    byte[] written = Jcs.write(entry);
    if (random.nextInt(8) == 0) {
      JsonChanges changes = new JsonChanges(random, List.of("signature", "AA", "client_data"));
      written = Jcs.write(changes.change(entry));
      did(changes.what);
    } else if (random.nextInt(12) == 0) {
      written = spoiled(text(written)).getBytes(StandardCharsets.UTF_8);
    }
    var envelope = rita.envelope(Approval.TYPE, PAYLOAD, written);
    return new Case(
        what.toString(),
        "trust.verify",
        JsonValue.object()
            .put("envelope_b64", StrictBase64.encode(envelope.toBytes()))
            .put("payload_type", Approval.TYPE)
            .put("at", "2026-06-01T00:00:00.000Z")
            .put(
                "keys",
                JsonValue.of(
                    List.of(rita.trusted(KeyRole.APPROVER, Optional.of(TestKeys.TENANT)).toJson())))
            .build());
  }

  private String statement(String stated) {
    switch (random.nextInt(6)) {
      case 0, 1, 2 -> {
        String origin = pick(ORIGINS);
        did("origin " + origin);
        return stated.replaceFirst(
            "\"origin\":\"[^\"]*\"", Matcher.quoteReplacement("\"origin\":\"" + origin + "\""));
      }
      case 3 -> {
        return spoiled(stated);
      }
      case 4 -> {
        JsonChanges changes =
            new JsonChanges(random, List.of("origin", "crossOrigin", "topOrigin", "type"));
        String changed =
            text(Jcs.write(changes.change(Jcs.parse(stated.getBytes(StandardCharsets.UTF_8)))));
        did(changes.what);
        return changed;
      }
      default -> {
        return stated;
      }
    }
  }

  private byte[] der(BigInteger[] numbers) {
    BigInteger n = TestPasskey.order();
    int way = random.nextInt(14);
    if (way < 6) {
      did("numbers " + way);
    }
    return switch (way) {
      case 0 -> TestPasskey.der(numbers[0], n.subtract(numbers[1]));
      case 1 -> TestPasskey.der(numbers[0].add(n), numbers[1]);
      case 2 -> TestPasskey.der(numbers[0], numbers[1].add(n));
      case 3 -> TestPasskey.der(numbers[1], numbers[0]);
      case 4, 5 -> spoiled(TestPasskey.der(numbers));
      default -> TestPasskey.der(numbers);
    };
  }

  // ---- witnesses

  private static WitnessKey witness(String name) {
    return new WitnessKey(name + ".example/w", TestKeys.key("witness-" + name).verifyingKey());
  }

  private Checkpoint cosigned(Checkpoint checkpoint, int most) {
    List<SignedNote.Signature> lines = new ArrayList<>();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      String by = pick(List.of("one", "two"));
      String as = random.nextInt(4) == 0 ? pick(List.of("one", "two")) : by;
      Instant at = Plot.START.plusSeconds(random.nextInt(100));
      var line =
          Cosignature.sign(checkpoint, witness(as).name(), TestKeys.key("witness-" + by), at);
      byte[] bytes = line.idAndBytes();
      int way = random.nextInt(6);
      if (way == 0) {
        bytes = spoiled(bytes);
      } else if (way == 1) {
        long seconds = pick(SECONDS);
        for (int b = 0; b < 8; b++) {
          bytes[4 + b] = (byte) (seconds >>> (56 - 8 * b));
        }
        did("time " + seconds);
      }
      lines.add(bytes.length < 4 ? line : new SignedNote.Signature(line.name(), bytes));
    }
    return checkpoint.with(lines);
  }

  private Checkpoint checkpoint() {
    List<String> more =
        random.nextInt(4) == 0 ? List.of(pick(List.of("ext", "a b", "\u00fc", "1"))) : List.of();
    did("extensions " + more);
    return Checkpoint.sign(
        "log.example/log", random.nextInt(9), Digest.sha256(PAYLOAD), TestKeys.key("log"));
  }

  private Case cosignature() {
    String note = text(cosigned(checkpoint(), 3).toBytes());
    String key = witness(pick(List.of("one", "two"))).toString();
    if (random.nextInt(3) == 0) {
      note = spoiled(note);
    }
    if (random.nextInt(5) == 0) {
      key = spoiled(key);
    }
    return new Case(
        what.toString(),
        "cosignature.verify",
        JsonValue.object().put("note", note).put("vkey", key).build());
  }

  private Case witnessed() {
    List<String> files =
        List.of("two-logs.writ", "consistent-with-later.writ", "consistent-with-earlier.writ");
    String file = pick(files);
    byte[] bundle = LogKeyVectors.files().get("bundle/" + file);
    Checkpoint own = Checkpoint.parse(Unpacked.entries(bundle).get("log/checkpoint.txt"));
    Checkpoint kept =
        pick(List.of(own, LogKeyVectors.kept("earlier"), LogKeyVectors.kept("later")));
    String note = text(cosigned(kept, 4).toBytes());
    if (random.nextInt(3) == 0) {
      note = spoiled(note);
    }
    List<JsonValue> keys = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      String key = witness(pick(List.of("one", "two", "three"))).toString();
      keys.add(JsonValue.of(random.nextInt(12) == 0 ? spoiled(key) : key));
    }
    did(file + " kept " + kept.size() + " witnesses " + keys.size());
    ObjectBuilder input =
        JsonValue.object()
            .put("bundle_b64", StrictBase64.encode(bundle))
            .put("checkpoint", note)
            .put("witnesses", JsonValue.of(keys));
    if (random.nextBoolean()) {
      long quorum = random.nextInt(5);
      input.put("quorum", quorum);
      did("quorum " + quorum);
    }
    return new Case(what.toString(), "bundle.verify", input.build());
  }

  // ---- installations

  private Case installation() {
    List<String> pool =
        List.of("cells", "writ", "path", "checkpoint", "more", "2026-11-21T12:00:00.000Z");
    JsonChanges changes = new JsonChanges(random, pool);
    boolean signed = random.nextInt(3) > 0;
    String proof =
        text(
            Jcs.write(
                signed
                    ? InstallationVectors.proof(statement ->
                        changes.change(statement) instanceof JsonValue.Obj next ? next : statement)
                    : changes.change(InstallationVectors.proof(statement -> statement))));
    did((signed ? "statement" : "proof") + changes.what);
    if (random.nextInt(6) == 0) {
      proof = spoiled(proof);
    }
    return new Case(
        what.toString(),
        "bundle.verify",
        JsonValue.object()
            .put(
                "bundle_b64",
                StrictBase64.encode(LogKeyVectors.files().get("bundle/two-logs.writ")))
            .put("installation", proof)
            .build());
  }
}
