package dev.writ.sinks.incident;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.guardian.profile.RejectionCode;
import dev.writ.surfaces.engine.EngineError;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What an incident says of its cause: what its code means, else what its kind means. The messages
 * in receipts and decisions quote tools and inputs, and are not told.
 */
final class Meanings {
  private static final TreeMap<String, String> BY_CODE = byCode();

  private Meanings() {}

  private static TreeMap<String, String> byCode() {
    TreeMap<String, String> meanings = new TreeMap<>();
    Stream.<ErrorCode[]>of(
            GuardianError.values(),
            ProfileError.values(),
            ExecutorError.values(),
            EngineError.values())
        .flatMap(Stream::of)
        .forEach(error -> meanings.put(error.code(), error.meaning()));
    for (RejectionCode rejection : RejectionCode.values()) {
      meanings.put(rejection.code(), rejection.meaning());
    }
    return meanings;
  }

  static String of(String code, IncidentKind kind) {
    return BY_CODE.getOrDefault(
        code,
        switch (kind) {
          case PolicyDenied -> "policy does not allow it";
          case SandboxViolation -> "the tool broke a rule of its sandbox";
          case DependencyLoadFailure -> "what the tool depends on could not be loaded";
          case Timeout -> "the tool took longer than it had";
          case ResourceExceeded -> "the tool used more than it had";
        });
  }

  static String of(String code, List<Alert> alerts) {
    return BY_CODE.getOrDefault(code, alerts.getFirst().meaning());
  }
}
