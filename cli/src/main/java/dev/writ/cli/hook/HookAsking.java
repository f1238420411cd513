package dev.writ.cli.hook;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.HomeWriter;
import dev.writ.client.error.ClientError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Has a request judged: by the server that has the data directory open, else in this process. The
 * agent's key signs it in both cases.
 */
final class HookAsking {
  private static final Duration WAIT_EVERY = Duration.ofMillis(500);

  private final Home home;
  private final SigningKey key;
  private final Duration patience;

  /**
   * @param patience how long to wait for a data directory that another process has open
   */
  HookAsking(Home home, SigningKey key, Duration patience) {
    this.home = home;
    this.key = key;
    this.patience = patience;
  }

  /**
   * What came of it.
   *
   * @param help what was missing and what would help
   */
  record Told(
      Verdict verdict,
      boolean isServed,
      Optional<String> code,
      String request,
      List<String> help) {}

  /**
   * Signs a request for the effect and has it judged and served.
   *
   * @param wait how long to wait for an approval, where it needs one
   */
  Told ask(String run, Effect effect, Duration wait) {
    Envelope request = request(run, effect);
    long until = System.nanoTime() + wait.toNanos(); // a clock that is set changes no patience
    Told told = submit(request);
    while (told.verdict == Verdict.ESCALATE && System.nanoTime() - until < 0) {
      pause(WAIT_EVERY);
      told = submit(request);
    }
    return told;
  }

  /** The exported trust says for whom the key signs; the kernel looks at its own. */
  private Envelope request(String run, Effect effect) {
    TrustedKey holder =
        trust()
            .key(key.kid())
            .orElseThrow(
                () -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + key.kid()));
    byte[] nonce = new byte[16];
    new SecureRandom().nextBytes(nonce);
    Request request =
        new Request(
            new Scope(holder.tenant().orElse(""), run, holder.subject()),
            effect,
            List.of(),
            Optional.empty(),
            HexFormat.of().formatHex(nonce),
            Homes.clock().instant(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), key);
  }

  private Trust trust() {
    try {
      return Trust.parse(Files.readAllBytes(home.trustFile()));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, home.trustFile().toString(), e);
    }
  }

  private Told submit(Envelope request) {
    return HomeWriter.work(
        home,
        () ->
            Opening.of(
                Homes.clock(),
                ProcessHost.missing(new WritException(ToolsError.PROCESSES_ABSENT, ""))),
        patience,
        open -> here(open, request),
        server -> served(server.within(patience), request));
  }

  private static Told here(OpenHome open, Envelope request) {
    Answer answer = open.kernel().submit(request, List.of());
    return new Told(
        answer.decision().verdict(),
        answer.served().map(Served::receipt).filter(HookAsking::succeeded).isPresent(),
        answer.decision().code(),
        answer.request().toString(),
        open.kernel().explanations().guidance(answer).map(Guidance::lines).orElse(List.of()));
  }

  private static boolean succeeded(Receipt receipt) {
    return receipt.status() == Status.SUCCEEDED;
  }

  private Told served(HomeServer server, Envelope request) {
    JsonValue.Obj answer = server.post("/v1/effects", request);
    Trust trust = trust();
    Decision decision =
        Decision.read(believed(trust, answer, "decision", Decision.TYPE).document());
    if (!decision.request().equals(request.id())) {
      throw new WritException(ClientError.ANSWER_REFUSED, "the decision is on another request");
    }
    boolean isServed =
        answer.get("receipt") != null
            && decision.verdict() == Verdict.ALLOW
            && isOf(
                Receipt.read(believed(trust, answer, "receipt", Receipt.TYPE).document()), request);
    return new Told(
        decision.verdict(),
        isServed,
        decision.code(),
        request.id().toString(),
        answer.get("guidance") instanceof JsonValue.Obj guidance
                && guidance.get("help") instanceof JsonValue.Arr help
            ? help.items().stream()
                .map(line -> line instanceof JsonValue.Str text ? text.value() : "")
                .toList()
            : List.of());
  }

  private static boolean isOf(Receipt receipt, Envelope request) {
    return receipt.request().equals(request.id()) && succeeded(receipt);
  }

  /** A document of the answer, under the keys that this data directory trusts. */
  private static Envelope believed(Trust trust, JsonValue.Obj answer, String name, String type) {
    if (!(answer.get(name) instanceof JsonValue.Obj given)) {
      throw new WritException(
          ClientError.REFUSED,
          answer.get("code") instanceof JsonValue.Str code ? code.value() : "without a code");
    }
    Envelope envelope = Envelope.parse(Jcs.write(given));
    trust.verify(envelope, type, Homes.clock().instant());
    return envelope;
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }
}
