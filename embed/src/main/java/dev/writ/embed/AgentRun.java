package dev.writ.embed;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.BundleFiles;
import dev.writ.embed.home.EffectResolver;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.Answer;
import dev.writ.executor.document.RunClose;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.BundleExport;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** One run of an agent. Thread safe; also for virtual threads. */
public final class AgentRun {
  private final OpenHome home;
  private final SigningKey key;
  private final TrustedKey agent;
  private final Asking asking;
  private final String name;

  AgentRun(OpenHome home, SigningKey key, TrustedKey agent, SecureRandom random, String name) {
    this.home = home;
    this.key = key;
    this.agent = agent;
    this.asking = new Asking(home.kernel(), random);
    this.name = name;
  }

  /**
   * Signs a request for the effect, has it judged and, where it is allowed, executed. Returns when
   * its receipt is on disk.
   *
   * @throws WritException where it is not admitted ({@code CAN-}, {@code GRD-0xx}: nothing is
   *     written), where a stage refuses before dispatch ({@code EXE-1xx} to {@code 3xx}), and
   *     {@code CLI-015} or {@code CLI-016} for a tool that is not there or not clear
   */
  public Outcome ask(EffectDraft draft) {
    return ask(draft, AskOptions.NONE);
  }

  /**
   * The same.
   *
   * @throws WritException as {@link #ask(EffectDraft)}
   */
  public Outcome ask(EffectDraft draft, AskOptions options) {
    Effect effect =
        new EffectResolver(home.kernel().system(), home.manifests())
            .resolve(draft, new CanaryDraw(tenant(), name, agent.subject()));
    return submit(
        asking.request(
            key,
            name,
            effect,
            options.idempotencyKey(),
            options.consumes(),
            options.keepsOutput()));
  }

  /**
   * Submits the same signed request once more: one that was approved meanwhile is executed, one
   * that was executed gives its stored outcome.
   *
   * @throws WritException as {@link #ask(EffectDraft)}
   */
  public Outcome resubmit(Outcome earlier) {
    return submit(earlier.request());
  }

  private Outcome submit(Envelope request) {
    Answer answer = home.kernel().submit(request, List.of());
    return new Outcome(request, answer, home.kernel().explanations().guidance(answer));
  }

  /**
   * Puts a file into the store for effects of this agent to read.
   *
   * @param file the name that the tool sees
   * @param mediaType for example {@code text/plain}
   * @throws WritException {@code LED-080} where policy's {@code storage} allows no more, {@code
   *     CLI-002} where the stream cannot be read
   */
  public Input put(String file, String mediaType, InputStream content) {
    Objects.requireNonNull(file, "file");
    Objects.requireNonNull(mediaType, "mediaType");
    Objects.requireNonNull(content, "content");
    Content stored =
        home.kernel()
            .contents()
            .put(tenant(), agent.subject(), new ReadContent(file, content), mediaType);
    return new Input(file, stored.digest(), stored.size(), stored.mediaType());
  }

  /**
   * Closes the run: nothing more can be asked in it, and its workspace is wiped.
   *
   * @return the checkpoint that covers all of it
   * @throws WritException {@code EXE-90x} where it cannot be closed
   */
  public Checkpoint close() {
    RunClose close = new RunClose(tenant(), name, home.kernel().now());
    return home.kernel().closeRun(Envelope.sign(RunClose.TYPE, close.toJson(), key));
  }

  /**
   * Writes the run's bundle to a new file, which {@link Bundles} reads on any machine. An open run
   * is exported up to the latest checkpoint, a closed one up to the checkpoint of its closing.
   *
   * @throws WritException {@code CLI-023} where the file is there already, {@code CLI-003} where it
   *     cannot be written
   */
  public void export(Path file) {
    BundleFiles.write(
        home.kernel().ledger(),
        new RunId(tenant(), name),
        home.packages(),
        BundleExport.Options.WHOLE,
        file);
  }

  /** Its name. */
  public String name() {
    return name;
  }

  private String tenant() {
    return agent.tenant().orElse("");
  }

  /**
   * Further members of a request.
   *
   * @param idempotencyKey the same key and effect are executed once
   * @param consumes receipts that this effect builds on
   * @param keepsOutput false to keep the digest of the output alone
   */
  public record AskOptions(
      Optional<String> idempotencyKey, List<Digest> consumes, boolean keepsOutput) {
    /** Nothing. */
    public static final AskOptions NONE = new AskOptions(Optional.empty(), List.of(), true);

    public AskOptions {
      consumes = List.copyOf(consumes);
    }

    /** With an idempotency key. */
    public AskOptions once(String key) {
      return new AskOptions(Optional.of(key), consumes, keepsOutput);
    }

    /** Building on receipts. */
    public AskOptions consuming(List<Digest> receipts) {
      return new AskOptions(idempotencyKey, receipts, keepsOutput);
    }

    /** Keeps only the digest of the output. */
    public AskOptions droppingOutput() {
      return new AskOptions(idempotencyKey, consumes, false);
    }
  }
}
