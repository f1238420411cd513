package dev.writ.conform.op;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.conform.adapter.Operation;
import dev.writ.executor.driver.Driver;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.replay.engine.Divergence;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleManifest;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.InstallationProof;
import dev.writ.verify.bundle.Verification;
import dev.writ.verify.bundle.WitnessRequirement;
import dev.writ.verify.stamp.StampAuthorities;
import dev.writ.verify.stamp.Stamps;
import dev.writ.verify.stamp.TimeStamp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Bundles: verifying them, and executing them again. */
final class BundleOps {
  private final List<Driver> drivers;

  private BundleOps(List<Driver> drivers) {
    this.drivers = List.copyOf(drivers);
  }

  /**
   * @param drivers the drivers that run tools again, and whose sandbox profiles are named in
   *     snapshots
   */
  static void addTo(SortedMap<String, Operation> operations, List<Driver> drivers) {
    BundleOps ops = new BundleOps(drivers);
    operations.put("bundle.verify", ops::verify);
    operations.put("bundle.stamped", BundleOps::stamped);
    operations.put("bundle.replay", ops::replay);
  }

  private JsonValue.Obj verify(Fields input) {
    byte[] file = Bytes.get(input, "bundle_b64");
    Optional<Trust> pinned =
        input.has("keys") ? Optional.of(BasicOps.trustFile(input)) : Optional.empty();
    Optional<Checkpoint> earlier = kept(input);
    boolean closed = input.optional("closed", input::bool).orElse(false);
    BundleVerifier.Verified verified =
        BundleVerifier.verify(
            file,
            new BundleVerifier.Options(
                pinned, earlier, closed, witnesses(input), Stamps.NONE, installation(input)),
            _ -> {});
    BundleManifest manifest = verified.manifest();
    return JsonValue.object()
        .put("incarnation", manifest.incarnation())
        .put("origin", manifest.origin())
        .put("pinned", verified.pinned())
        .put("run", manifest.run().run())
        .put("size", manifest.size())
        .put("state", manifest.closed() ? "closed" : "open")
        .put("tenant", manifest.run().tenant())
        .putIfPresent(
            "witnesses",
            input.has("witnesses") ? Optional.of(verified.witnesses()) : Optional.empty(),
            Verification::witnesses)
        .build();
  }

  /** What one time stamp says of a bundle; an operation that only a verifier with X.509 has. */
  private static JsonValue.Obj stamped(Fields input) {
    Stamps stamps =
        new Stamps(
            List.of(Bytes.get(input, "stamp_b64")),
            StampAuthorities.parse(Bytes.get(input, "tsa_ca_b64")));
    Optional<Checkpoint> kept = kept(input);
    try (Bundle bundle = Bundle.of(Bytes.get(input, "bundle_b64"))) {
      BundleVerifier.Verified verified =
          BundleVerifier.verify(
              bundle,
              new BundleVerifier.Options(
                  Optional.empty(), kept, false, WitnessRequirement.NONE, stamps),
              _ -> {});
      return JsonValue.object()
          .put("size", kept.orElse(bundle.checkpoint()).size())
          .putList("stamps", verified.stamps(), TimeStamp::toJson)
          .build();
    }
  }

  private static Optional<Checkpoint> kept(Fields input) {
    return input
        .optional("checkpoint", input::string)
        .map(note -> Checkpoint.parse(note.getBytes(StandardCharsets.UTF_8)));
  }

  private static Optional<InstallationProof> installation(Fields input) {
    return input
        .optional("installation", input::string)
        .map(proof -> InstallationProof.parse(proof.getBytes(StandardCharsets.UTF_8)));
  }

  private JsonValue.Obj replay(Fields input) {
    boolean live = input.optional("live", input::bool).orElse(false);
    ReplayOptions options = new ReplayOptions(live, true, drivers, _ -> {});
    try (Bundle bundle = Bundle.of(Bytes.get(input, "bundle_b64"))) {
      BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
      ReplayResult result = new Replay(bundle, options).run();
      if (result.failure().isPresent()) {
        WritException failure = result.failure().get();
        throw new WritException(failure.code(), failure.found(), failure);
      }
      return JsonValue.object()
          .put("state", result.state().name())
          .put("events", result.events())
          .putIfPresent("run_hash", result.runHash(), d -> JsonValue.of(d.toString()))
          .putIfPresent("replay_hash", result.replayHash(), d -> JsonValue.of(d.toString()))
          .putList("divergences", result.divergences(), BundleOps::divergence)
          .build();
    }
  }

  private static JsonValue.Obj divergence(Divergence divergence) {
    return JsonValue.object()
        .put("code", divergence.kind().code().code())
        .put("seq", divergence.seq())
        .put("event", divergence.event())
        .put("last_match", JsonValue.of(divergence.lastMatch()))
        .putList(
            "fields",
            divergence.fields(),
            field ->
                JsonValue.object()
                    .put("field", field.pointer())
                    .put("recorded", field.recorded())
                    .put("replayed", field.replayed())
                    .build())
        .build();
  }

  private static WitnessRequirement witnesses(Fields input) {
    List<WitnessKey> keys =
        input
            .optional("witnesses", name -> input.list(name, Fields::stringItem))
            .orElse(List.of())
            .stream()
            .map(WitnessKey::parse)
            .toList();
    return input
        .optional("quorum", input::integer)
        .map(quorum -> new WitnessRequirement(keys, quorum.intValue()))
        .orElse(WitnessRequirement.all(keys));
  }
}
