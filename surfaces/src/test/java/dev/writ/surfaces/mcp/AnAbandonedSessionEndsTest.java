package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.auth.Caller;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sessions that nobody uses go; those that are used stay, and nobody's go for another's sake. */
class AnAbandonedSessionEndsTest {
  private static final Instant T = Instant.parse("2026-11-22T09:00:00Z");
  private static final Duration IDLE = Duration.ofHours(1);

  private final McpSessions sessions = new McpSessions(new SecureRandom(), IDLE);
  private final Caller alice = new Caller("bearer", "a", "acme", "alice", List.of());
  private final Caller eve = new Caller("bearer", "e", "other", "eve", List.of());

  private void gone(Caller caller, McpSession session, Instant now) {
    assertThatThrownBy(() -> sessions.find(caller, McpView.ALL, session.id(), now))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(McpRefusal.SESSION_UNKNOWN));
  }

  @Test
  void afterItsIdleTimeToTheMillisecondAndNotBefore() {
    McpSession used = sessions.open(alice, McpView.ALL, T);
    McpSession abandoned = sessions.open(alice, McpView.ALL, T);
    Instant last = T.plus(IDLE).minusMillis(1);
    assertThat(sessions.find(alice, McpView.ALL, used.id(), last)).isSameAs(used);
    gone(alice, abandoned, T.plus(IDLE));
    assertThat(sessions.find(alice, McpView.ALL, used.id(), last.plus(IDLE).minusMillis(1)))
        .isSameAs(used);
    assertThat(sessions.size()).isEqualTo(1);
  }

  @Test
  void anybodysCallTakesTheAbandonedOnesOfAllAway() {
    for (int i = 0; i < 100; i++) {
      sessions.open(alice, McpView.ALL, T.plusSeconds(i));
    }
    McpSession eves = sessions.open(eve, McpView.ALL, T.plusSeconds(50));
    assertThat(sessions.size()).isEqualTo(101);
    gone(eve, sessions.open(alice, McpView.ALL, T.plusSeconds(100)), T.plusSeconds(100));
    sessions.find(eve, McpView.ALL, eves.id(), T.plus(IDLE).plusSeconds(40));
    assertThat(sessions.size()).isEqualTo(61); // of 102 those of the first 41 seconds are over
    sessions.open(eve, McpView.ALL, T.plus(IDLE.multipliedBy(9)));
    assertThat(sessions.size()).isEqualTo(1);
  }

  @Test
  void aCredentialOfTheSameNameAndSubjectIsAnotherOneByItsKindAndByItsFingerprint() {
    Caller token = new Caller("bearer", "ci", "d1", "acme", "alice", List.of());
    McpSession session = sessions.open(token, McpView.ALL, T);
    gone(new Caller("mtls", "ci", "d1", "acme", "alice", List.of()), session, T);
    gone(new Caller("bearer", "ci", "d2", "acme", "alice", List.of()), session, T);
    gone(new Caller("bearer", "cd", "d1", "acme", "alice", List.of()), session, T);
    gone(new Caller("bearer", "ci", "d1", "acme", "alice", List.of("clerk")), session, T);
    assertThat(sessions.find(token, McpView.ALL, session.id(), T)).isSameAs(session);
  }

  @Test
  void allSubjectsTogetherHaveSoManyAndTheOneUnusedForLongestGoes() {
    McpSession first = sessions.open(alice, McpView.ALL, T);
    for (int i = 1; i < McpSessions.ALL_MAX; i++) {
      sessions.open(
          new Caller("bearer", "s" + i / 200, "acme", "s" + i / 200, List.of()), McpView.ALL, T);
    }
    assertThat(sessions.find(alice, McpView.ALL, first.id(), T)).isSameAs(first);
    sessions.open(eve, McpView.ALL, T);
    assertThat(sessions.size()).isEqualTo(McpSessions.ALL_MAX);
    assertThat(sessions.find(alice, McpView.ALL, first.id(), T)).isSameAs(first);
  }

  @Test
  void whoOpensTooManyLosesItsOwnThatWereUsedLongestAgo() {
    McpSession eves = sessions.open(eve, McpView.ALL, T);
    McpSession first = sessions.open(alice, McpView.ALL, T);
    McpSession second = sessions.open(alice, McpView.ALL, T);
    sessions.find(alice, McpView.ALL, first.id(), T);
    for (int i = 2; i <= McpSessions.PER_SUBJECT_MAX; i++) {
      sessions.open(alice, McpView.ALL, T);
    }
    gone(alice, second, T);
    sessions.find(alice, McpView.ALL, first.id(), T);
    sessions.find(eve, McpView.ALL, eves.id(), T);
    assertThat(sessions.size()).isEqualTo(McpSessions.PER_SUBJECT_MAX + 1);
    sessions.end(first);
    gone(alice, first, T);
  }
}
