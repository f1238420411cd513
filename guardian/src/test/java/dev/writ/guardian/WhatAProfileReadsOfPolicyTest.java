package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.Profiles;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A finding stands under another policy that says the same of what the profile reads. */
class WhatAProfileReadsOfPolicyTest {
  private static final String YAML =
      SeedZero.yaml().replace("PACKAGE", SeedZero.manifest().packageDigest().toString());
  private static final Policy BEFORE = World.policy(YAML);

  private static Request by(String surface) {
    World.RequestBuilder ask = new World.RequestBuilder();
    ask.origin =
        Optional.of(new Origin(surface, "bearer", "token-1", Digest.sha256(new byte[] {1})));
    return ask.request();
  }

  private static Policy with(String text, String other) {
    assertThat(YAML).contains(text);
    return World.policy(YAML.replace(text, other));
  }

  @Test
  void itsSectionAndTheSubjectsRolesCountAndNothingElse() {
    Request execute = by("execute");
    Policy section = with("freshness_s: 300", "freshness_s: 299");
    assertThat(Profiles.readTheSame(execute, BEFORE, BEFORE)).isTrue();
    assertThat(Profiles.readTheSame(execute, BEFORE, section)).isFalse();
    assertThat(Profiles.readTheSame(by("tools"), BEFORE, section)).as("not its own").isTrue();
    Policy elsewhere = with("wall_ms: 60000", "wall_ms: 59999");
    assertThat(elsewhere.digest()).isNotEqualTo(BEFORE.digest());
    assertThat(Profiles.readTheSame(execute, BEFORE, elsewhere)).isTrue();
  }

  @Test
  void whoeverHasAnotherRoleNowIsFoundAnew() {
    Request execute = by("execute");
    Policy other = World.policy(YAML.replace("roles: [analyst]", "roles: []"));
    assertThat(other.rolesOf(World.TENANT, World.SUBJECT))
        .isNotEqualTo(BEFORE.rolesOf(World.TENANT, World.SUBJECT));
    assertThat(Profiles.readTheSame(execute, BEFORE, other)).isFalse();
  }
}
