package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Ids;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.HomeSurface;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.error.ClientError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.Answer;
import dev.writ.executor.SystemState;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Where an agent's effects are asked for: a home that is open in this process, or its server. */
interface EffectPlace {
  Home home();

  SystemState system();

  /** All tools that can be called. */
  List<ToolManifest> tools();

  Instant now();

  /** A document by the beginning of its id. */
  Envelope document(String beginning);

  /** The digest of a run's workspace as it is now. */
  Digest workspace(String tenant, String run);

  /**
   * Stores a file, so that an effect can name it as an input.
   *
   * @param holder whose key it is
   * @throws WritException {@code CLI-002}
   */
  Content put(SigningKey key, Holder holder, Path file, String mediaType);

  /** Has a signed request judged and served. */
  AnswerReport submit(byte[] request);

  /** For whom a key signs; everybody where it is enrolled as nothing. */
  record Holder(String tenant, String subject) {
    static Holder of(Trust trust, SigningKey key, String tenant, String everybody) {
      Optional<TrustedKey> enrolled = trust.key(key.kid());
      return new Holder(
          enrolled.flatMap(TrustedKey::tenant).orElse(tenant),
          enrolled.map(TrustedKey::subject).orElse(everybody));
    }
  }

  /** Works by the rule for commands that write. */
  static <T> T work(Session session, Function<EffectPlace, T> work) {
    return Homes.write(
        session,
        open -> work.apply(new Here(open)),
        server -> work.apply(new There(session, server)));
  }

  /** In this process. */
  record Here(OpenHome open) implements EffectPlace {
    @Override
    public Home home() {
      return open.home();
    }

    @Override
    public SystemState system() {
      return open.kernel().system();
    }

    @Override
    public List<ToolManifest> tools() {
      return open.manifests();
    }

    @Override
    public Instant now() {
      return open.kernel().now();
    }

    @Override
    public Envelope document(String beginning) {
      return Ids.document(open.kernel().ledger(), beginning);
    }

    @Override
    public Digest workspace(String tenant, String run) {
      return open.workspaces().treeDigest(tenant, run);
    }

    @Override
    public Content put(SigningKey key, Holder holder, Path file, String mediaType) {
      // Of what can be read twice, such as no pipe, the digest is known: the same again needs no
      // room, also where the quota is full.
      Optional<Digest> known =
          Optional.of(file).filter(Files::isRegularFile).map(HomeServer::digest);
      try (InputStream in =
          known.isPresent()
              ? new UnchangedContent(file, known.get())
              : Files.newInputStream(file)) {
        return open.kernel()
            .contents()
            .put(holder.tenant(), holder.subject(), in, mediaType, known);
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
      }
    }

    @Override
    public AnswerReport submit(byte[] request) {
      return AnswerReport.of(open.kernel(), open.kernel().submit(request, List.of()));
    }
  }

  /** By the server that has the home open; the ledger is read here. */
  record There(Session session, HomeServer server) implements EffectPlace {
    @Override
    public Home home() {
      return server.home();
    }

    private <T> T read(Function<LedgerView, T> read) {
      return Homes.read(session, read);
    }

    @Override
    public SystemState system() {
      return read(SystemState::read);
    }

    @Override
    public List<ToolManifest> tools() {
      return InstalledTools.of(home());
    }

    @Override
    public Instant now() {
      return Timestamps.truncate(Homes.clock().instant());
    }

    @Override
    public Envelope document(String beginning) {
      return read(ledger -> Ids.document(ledger, beginning));
    }

    @Override
    public Digest workspace(String tenant, String run) {
      return Digest.parse(
          HomeServer.text(
              server.get(
                  HomeSurface.WORKSPACE + "?tenant=" + encoded(tenant) + "&run=" + encoded(run),
                  server.token()),
              "digest"));
    }

    private static String encoded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public Content put(SigningKey key, Holder holder, Path file, String mediaType) {
      Digest digest = HomeServer.digest(file);
      try {
        long size = Files.size(file);
        server.put(
            file,
            digest,
            size,
            mediaType,
            HomeServer.access(home(), holder.tenant(), key, Homes.clock().instant()));
        return new Content(digest, size, mediaType);
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
      }
    }

    @Override
    public AnswerReport submit(byte[] bytes) {
      Envelope request = Envelope.parse(bytes);
      JsonValue.Obj answer = server.post("/v1/effects", request);
      SystemState system = system();
      Instant now = Timestamps.truncate(Homes.clock().instant());
      VerifiedOutcome outcome = VerifiedOutcome.of(answer, request, system.trust(), now);
      Envelope envelope = envelope(answer, "decision").orElseThrow();
      Decision decision = Decision.read(envelope.document());
      return new AnswerReport(
          new Answer(
              outcome.requestId(),
              envelope,
              decision,
              envelope(answer, "intent"),
              envelope(answer, "receipt").map(receipt -> served(answer, receipt, outcome))),
          outcome.guidance().map(AnswerReport.Help::of),
          AnswerReport.isLate(decision, system.policyInForce(), now));
    }

    private Served served(JsonValue.Obj answer, Envelope envelope, VerifiedOutcome outcome) {
      Receipt receipt = Receipt.read(envelope.document());
      return new Served(
          envelope,
          receipt,
          envelope(answer, "resolution"),
          outcome.output().or(() -> large(answer, envelope, receipt)),
          Optional.empty(),
          outcome.repeated());
    }

    /** An output that was too large for the answer. */
    private Optional<byte[]> large(JsonValue.Obj answer, Envelope envelope, Receipt receipt) {
      Optional<Content> output = receipt.output();
      if (output.isEmpty() || answer.get("output") == null || !receipt.retained()) {
        return Optional.empty();
      }
      Digest digest = output.get().digest();
      byte[] content =
          read(ledger -> {
            if (!ledger.hasBlob(digest)) {
              return server.getBytes("/v1/receipts/" + envelope.id() + "/output", server.token());
            }
            try (InputStream in = ledger.openBlob(digest)) {
              return in.readAllBytes();
            } catch (IOException e) {
              throw new WritException(EmbedError.FILE_UNREADABLE, digest.toString(), e);
            }
          });
      if (!Digest.sha256(content).equals(digest)) {
        throw new WritException(ClientError.ANSWER_REFUSED, "the output is not the receipt's");
      }
      return Optional.of(content);
    }

    private static Optional<Envelope> envelope(JsonValue.Obj answer, String name) {
      return answer.get(name) instanceof JsonValue.Obj json
          ? Optional.of(Envelope.parse(Jcs.write(json)))
          : Optional.empty();
    }
  }
}
