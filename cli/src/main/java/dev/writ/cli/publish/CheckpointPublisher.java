package dev.writ.cli.publish;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.gateway.config.CheckpointSettings;
import dev.writ.gateway.config.CheckpointSettings.StampsAt;
import dev.writ.gateway.config.CheckpointSettings.WitnessAt;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.publish.PublicFolder;
import dev.writ.verify.stamp.StampAuthorities;
import dev.writ.verify.stamp.TimeStamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Publishes checkpoints of a log as a configuration says (spec/witness.md, "Publishing"). {@link
 * #round} is for one thread; what it came to may be read by others.
 */
final class CheckpointPublisher implements AutoCloseable {
  private static final String LOG = "log";
  private static final String WITNESSES = "witnesses";
  private static final String WITNESS = "witness ";

  private final CheckpointSettings settings;
  private final OwnLog log;
  private final PublishingLog lines;
  private final InstantSource clock;
  private final List<CheckpointPlace> places = new ArrayList<>();
  private final List<Asked> asked = new ArrayList<>();
  private final List<Stamping> stamping = new ArrayList<>();
  private final TreeMap<String, WritException> refused = new TreeMap<>();

  /** Whether witnesses were asked in this round; else what is known of them stays. */
  private boolean hasAsked;

  private volatile Publication state = Publication.NONE;
  private volatile boolean closed;

  /** A witness, and who calls it. */
  private record Asked(WitnessAt witness, WitnessCaller caller) {}

  /** A time stamp authority, and who calls it. */
  private record Stamping(StampsAt authority, StampAuthorities believed, StampCaller caller) {}

  /**
   * @throws WritException as {@link PublishingCheck#require}
   */
  CheckpointPublisher(
      CheckpointSettings settings, OwnLog log, PublishingLog lines, InstantSource clock) {
    this.settings = settings;
    this.log = log;
    this.lines = lines;
    this.clock = clock;
    settings
        .folder()
        .ifPresent(dir -> places.add(new CheckpointPlace("folder", new PublicFolder(dir), log)));
    settings
        .bucket()
        .ifPresent(
            url -> places.add(new CheckpointPlace("bucket", PublishingCheck.bucket(url), log)));
    settings
        .witnesses()
        .forEach(witness -> asked.add(new Asked(witness, new WitnessCaller(witness.ca(), log))));
    settings
        .stamps()
        .forEach(one ->
            stamping.add(
                new Stamping(one, PublishingCheck.believed(one), new StampCaller(one.ca()))));
  }

  CheckpointSettings settings() {
    return settings;
  }

  Publication state() {
    return state;
  }

  /** Publishes what the log has now. Whatever goes wrong is told, and tried again next time. */
  void round() {
    refused.clear();
    hasAsked = false;
    if (!isPublished(log.size())) {
      attempt(LOG, log::checkpoint).ifPresent(this::publish);
    }
    tell();
  }

  /** Nothing is left to do for a size that is everywhere; its witnesses were asked. */
  private boolean isPublished(long size) {
    return state.troubles().keySet().stream().allMatch(CheckpointPublisher::isOfWitness)
        && state.checkpoint().filter(last -> last.size() == size).isPresent();
  }

  private void publish(Checkpoint fresh) {
    Optional<Checkpoint> before = Optional.empty();
    List<CheckpointPlace> usable = new ArrayList<>();
    for (CheckpointPlace place : places) {
      Optional<Optional<Checkpoint>> found =
          attempt(place.kind(), () -> place.find(fresh.size()).map(this::seenByEnough));
      found.ifPresent(_ -> usable.add(place));
      before = before.or(() -> found.flatMap(note -> note));
    }
    boolean isForked = refused.values().stream().anyMatch(e -> e.code() == CliError.PLACE_FORK);
    if (isForked || usable.isEmpty()) {
      return; // Of two histories nothing more is published.
    }
    before.or(() -> cosigned(fresh)).ifPresent(note -> publish(note, usable));
  }

  /**
   * Requires of a checkpoint that is there that it could have been published now. Whoever may write
   * at a place must not get one past the witnesses.
   */
  private Checkpoint seenByEnough(Checkpoint found) {
    long seen =
        settings.witnesses().stream()
            .filter(witness -> Cosignature.of(found, witness.key()).isPresent())
            .count();
    if (seen < settings.quorum()) {
      throw new WritException(
          CliError.PLACE_UNUSABLE,
          "the checkpoint of size "
              + found.size()
              + " is there with "
              + seen
              + " of "
              + settings.quorum()
              + " cosignatures; it stays until the log grows");
    }
    return found;
  }

  private static boolean isOfWitness(String who) {
    return who.startsWith(WITNESS);
  }

  private Optional<Checkpoint> cosigned(Checkpoint fresh) {
    hasAsked = true;
    Cosigning cosigning = new Cosigning(fresh);
    List<Optional<WritException>> reasons =
        cosigning.ask(
            asked.stream()
                .map(one ->
                    new Cosigning.Asked(
                        one.caller(), one.witness().url(), List.of(one.witness().key())))
                .toList());
    for (int i = 0; i < reasons.size(); i++) {
      String who = name(asked.get(i).witness());
      reasons.get(i).ifPresent(e -> refused.put(who, e));
    }
    return attempt(
        WITNESSES,
        () -> {
          cosigning.require(settings.quorum());
          return cosigning.checkpoint();
        });
  }

  static String name(WitnessAt witness) {
    return WITNESS + witness.key().name();
  }

  private void publish(Checkpoint note, List<CheckpointPlace> usable) {
    TreeMap<String, Long> sizes = new TreeMap<>(state.places());
    List<CheckpointPlace> there = new ArrayList<>();
    List<String> published = new ArrayList<>();
    for (CheckpointPlace place : usable) {
      attempt(
          place.kind(),
          () -> {
            place.publish(note);
            there.add(place);
            Long before = sizes.put(place.kind(), note.size());
            if (before == null || before != note.size()) {
              published.add(place.kind());
            }
            return note;
          });
    }
    if (!published.isEmpty()) {
      lines.published(note, published);
    }
    if (!there.isEmpty()) {
      state =
          new Publication(
              Optional.of(note), sizes, new TreeMap<>(), state.troubles(), state.wholeAt());
      stamp(note, there);
    }
  }

  /** After it is published: a stamp is asked of what others can already find. */
  private void stamp(Checkpoint note, List<CheckpointPlace> there) {
    TreeMap<String, TimeStamp> stamps = new TreeMap<>();
    for (Stamping one : stamping) {
      attempt(
              name(one.authority()),
              () -> {
                StampCaller.Stamped stamped = stamped(note, there, one);
                there.forEach(place -> place.keep(note, one.authority().name(), stamped.reply()));
                return stamped.stamp();
              })
          .ifPresent(stamp -> stamps.put(one.authority().name(), stamp));
    }
    state =
        new Publication(
            state.checkpoint(), state.places(), stamps, state.troubles(), state.wholeAt());
  }

  /** The stamp that a place has already, or a new one. */
  private static StampCaller.Stamped stamped(
      Checkpoint note, List<CheckpointPlace> there, Stamping one) {
    Digest digest = Digest.sha256(note.toBytes());
    Optional<byte[]> kept =
        there.stream()
            .flatMap(place -> place.stamp(note, one.authority().name()).stream())
            .findFirst();
    return kept.isPresent()
        ? new StampCaller.Stamped(
            kept.get(), TimeStamp.verify(kept.get(), digest, Optional.empty(), one.believed()))
        : one.caller().ask(one.authority().url(), digest, one.believed());
  }

  static String name(StampsAt authority) {
    return "stamp " + authority.name();
  }

  private <T> Optional<T> attempt(String who, Supplier<T> work) {
    try {
      return Optional.of(work.get());
    } catch (WritException e) {
      refused.put(who, e);
      return Optional.empty();
    }
  }

  /** Where this was closed meanwhile, what was refused says nothing of anybody. */
  private void tell() {
    if (closed) {
      return;
    }
    Instant now = clock.instant();
    TreeMap<String, Publication.Trouble> troubles = new TreeMap<>();
    if (!hasAsked) {
      state.troubles().keySet().stream()
          .filter(CheckpointPublisher::isOfWitness)
          .forEach(who -> troubles.put(who, state.troubles().get(who)));
    }
    refused.forEach((who, e) -> {
      String code = e.code().code();
      Optional<Publication.Trouble> before =
          Optional.ofNullable(state.troubles().get(who)).filter(t -> t.code().equals(code));
      troubles.put(who, before.orElseGet(() -> new Publication.Trouble(code, now)));
      lines.failed(who, e, before.isEmpty());
    });
    state =
        new Publication(
            state.checkpoint(),
            state.places(),
            state.stamps(),
            troubles,
            troubles.isEmpty() ? Optional.of(now) : state.wholeAt());
  }

  @Override
  public void close() {
    closed = true;
    asked.forEach(one -> one.caller().close());
    stamping.forEach(one -> one.caller().close());
  }
}
