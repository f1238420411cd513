package dev.writ.guardian.profile;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The profiles of surfaces. The surface applies its profile before it vouches, and the Guardian
 * applies it again, so a surface that skips or misreads it gets nothing through.
 */
public final class Profiles {
  private Profiles() {}

  /** The profile that a request must have passed: that of its surface, if it has one. */
  public static Optional<String> of(Request request) {
    return request
        .origin()
        .map(origin -> origin.surface())
        .filter(List.of(CommandAdmission.PROFILE, ExecuteAdmission.PROFILE)::contains);
  }

  /**
   * The profile's finding on the raw request behind a vouched one, including whether the vouched
   * effect is the requested one.
   *
   * @param raw the body whose digest the request's origin names
   * @throws WritException {@code GRD-701} for another body
   */
  public static Finding find(
      Request request, byte[] raw, Policy policy, ExecuteState state, Instant now) {
    String profile = of(request).orElseThrow();
    Digest found = Digest.sha256(raw);
    Digest named = request.origin().orElseThrow().raw();
    if (!found.equals(named)) {
      throw new WritException(
          ProfileError.BODY_MISSING, "the body is " + found + ", origin.raw " + named);
    }
    ExecuteAdmission.Asker asker =
        new ExecuteAdmission.Asker(
            request.scope().tenant(),
            request.scope().subject(),
            request.origin().orElseThrow().roles());
    return profile.equals(ExecuteAdmission.PROFILE)
        ? execute(request, ExecuteAdmission.check(raw, asker, policy, state, now))
        : command(request, raw, asker, policy);
  }

  /**
   * Whether the finding on a request under one policy is that under another: of a policy a profile
   * reads its own section and the subject's roles, and nothing else.
   */
  public static boolean readTheSame(Request request, Policy before, Policy now) {
    if (before.digest().equals(now.digest())) {
      return true;
    }
    String tenant = request.scope().tenant();
    String subject = request.scope().subject();
    String section =
        of(request).filter(ExecuteAdmission.PROFILE::equals).isPresent() ? "execute" : "commands";
    return Objects.equals(before.toJson().get(section), now.toJson().get(section))
        && before.rolesOf(tenant, subject).equals(now.rolesOf(tenant, subject));
  }

  private static Finding execute(Request request, ExecuteAdmission.Result result) {
    boolean asIs =
        result.effect().isEmpty()
            || isFor(request, result.effect().get())
                && result.request().traceId().equals(Optional.of(request.namedRun()))
                && result.request().requestId().equals(request.idempotencyKey())
                && result.request().persist() == request.retention().equals("keep");
    return asIs ? result.finding() : notTheEffect(ExecuteAdmission.PROFILE);
  }

  private static Finding command(
      Request request, byte[] raw, ExecuteAdmission.Asker asker, Policy policy) {
    try {
      CommandAdmission.Admitted admitted = CommandAdmission.admit(raw, asker, policy);
      Optional<SurfaceRefusal> ofSurface = SurfaceRefusal.of(request);
      if (ofSurface.isPresent()) {
        throw ofSurface.get().exception();
      }
      boolean asIs =
          isFor(request, admitted.effect())
              && admitted.request().caseId().equals(request.namedRun());
      return asIs
          ? Finding.accepted(CommandAdmission.PROFILE)
          : notTheEffect(CommandAdmission.PROFILE);
    } catch (WritException e) {
      return Finding.refused(
          CommandAdmission.PROFILE, e.code().code(), e.code().meaning() + ": " + e.found());
    }
  }

  private static boolean isFor(Request request, Effect effect) {
    return request.effect().digest().equals(effect.digest());
  }

  private static Finding notTheEffect(String profile) {
    return Finding.refused(
        profile,
        ProfileError.NOT_THE_EFFECT.code(),
        ProfileError.NOT_THE_EFFECT.meaning() + ": surface " + profile);
  }
}
