package dev.writ.executor.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.seal.ContentOwner;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whoever mentions a digest does not keep its content from an order of erasure or a rule; whoever
 * uploaded it himself does.
 */
class ADigestIsNoRightToKeepContentsTest {
  private static final String SECRET = "what alice alone may know";
  private static final String OUTPUT = "{\"ok\":true,\"params\":{\"is\":\"" + SECRET + "\"}}";
  private static final String UPLOADS = "storage: { bytes_max: 100000, unnamed_s: 86400 }\n";
  private static final String ALL = "[inputs, outputs, observations, artifacts]";

  @TempDir Path dir;
  private TestHome home;

  @AfterEach
  void stop() {
    home.close();
  }

  private void start(String retention) {
    home = TestHome.create(dir.resolve("home"), TestPolicy.YAML + UPLOADS + retention);
    home.driver.does("mail", Behaviours.gives(OUTPUT, Behaviours.JSON));
  }

  private void startSealed(String contents) {
    start(
        contents.isEmpty()
            ? "retention: { rules: [] }\n"
            : "retention: { rules: [], sealed: { contents: " + contents + ", by: subject } }\n");
  }

  private TestRequest mail(String agent, int n) {
    return home.ask(agent).tool("mail").run(agent + "-" + n).params("{\"n\":" + n + "}");
  }

  private TestRequest pay(String agent, String params) {
    return home.ask(agent).tool("pay").run(agent + "-pays").params(params);
  }

  private Content output() {
    Receipt made = home.submit(mail("alice", 1)).served().orElseThrow().receipt();
    assertThat(made.status()).isEqualTo(Status.SUCCEEDED);
    return made.output().orElseThrow();
  }

  private Content upload(String tenant, String subject, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return home.kernel()
        .contents()
        .put(tenant, subject, new ByteArrayInputStream(bytes), "text/plain");
  }

  private void named(TestRequest request, Content content) {
    assertThat(home.submit(request.input("f", content.digest(), content.size())).served())
        .isPresent();
  }

  private static String mentioning(Digest digest) {
    return "{\"note\":\"see " + digest + "\"}";
  }

  /** How it ends does not matter: it is refused, by whichever check. */
  private void refused(TestRequest request) {
    try {
      assertThat(home.submit(request).served()).isEmpty();
    } catch (WritException e) {
      assertThat(e.code().toString()).isNotEmpty();
    }
  }

  private boolean erased(String subject) {
    return outcome(order(subject)).done().isPresent();
  }

  private Digest order(String subject) {
    Envelope order =
        home.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(TestKeys.TENANT, Optional.of(subject), Optional.empty()).toJson());
    home.kernel().change(order);
    return order.id();
  }

  private ErasureOutcome outcome(Digest order) {
    return ErasureOutcome.of(home.ledger(), order);
  }

  private Ledger ledger() {
    return (Ledger) home.ledger();
  }

  private void assertGone(Digest content) {
    assertThat(ledger().hasBlob(content)).isFalse();
    assertThat(ledger().copies(content)).isEmpty();
    assertThat(home.fsck().problems()).isEmpty();
  }

  private void assertStays(Content content, String text) {
    assertThat(new String(ledger().blob(content.digest(), 1000), StandardCharsets.UTF_8))
        .isEqualTo(text);
    assertThat(home.fsck().problems()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ALL})
  void a_request_that_waits_and_mentions_it_does_not_keep_it_from_an_order(String sealed) {
    startSealed(sealed);
    Content secret = output();
    assertThat(home.submit(pay("eve", mentioning(secret.digest()))).served()).isEmpty();
    assertThat(home.submit(pay("bob", mentioning(secret.digest()))).served()).isEmpty();
    assertThat(erased("alice")).isTrue();
    assertGone(secret.digest());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ALL})
  void a_request_that_names_it_as_an_input_and_may_not_does_not_either(String sealed) {
    startSealed(sealed);
    Content secret = output();
    refused(mail("bob", 1).input("f", secret.digest(), secret.size()));
    refused(mail("eve", 1).input("f", secret.digest(), secret.size()));
    refused(pay("bob", "{\"n\":1}").input("f", secret.digest(), secret.size()));
    refused(mail("bob", 2).params("{\"forbidden\":1}").input("f", secret.digest(), secret.size()));
    assertThat(erased("alice")).isTrue();
    assertGone(secret.digest());
  }

  @Test
  void strangers_do_not_keep_it_from_a_rule() {
    start(
        "retention: { rules: [ { name: all, contents: [outputs, observations], keep_s: 3600 } ]"
            + " }\n");
    Content secret = output();
    home.clock.forward(Duration.ofSeconds(3601));
    home.submit(pay("eve", mentioning(secret.digest())));
    refused(mail("eve", 1).params("{\"forbidden\":1}").input("f", secret.digest(), secret.size()));
    refused(mail("bob", 1).params("{\"forbidden\":1}").input("f", secret.digest(), secret.size()));
    home.kernel().contents().retain(home.kernel().now());
    assertGone(secret.digest());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[outputs]", ALL})
  void an_upload_for_the_whole_tenant_stays_though_she_used_it(String sealed) {
    startSealed(sealed);
    String prices = "the price list of the tenant";
    Content shared = upload(TestKeys.TENANT, "", prices);
    named(mail("alice", 1), shared);
    assertThat(erased("alice")).isTrue();
    assertStays(shared, prices);
    named(mail("bob", 1), shared);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[outputs]", ALL})
  void what_another_uploaded_himself_stays_his(String sealed) {
    startSealed(sealed);
    Content secret = output();
    Content his = upload(TestKeys.TENANT, "bob", OUTPUT);
    assertThat(his.digest()).as("the same bytes").isEqualTo(secret.digest());
    assertThat(erased("alice")).isTrue();
    assertStays(his, OUTPUT);
    assertThat(ledger().copies(his.digest()))
        .extracting(SealedCopy::owner)
        .doesNotContain(ContentOwner.subject(TestKeys.TENANT, "alice"));
    named(mail("bob", 1), his);
    assertThat(erased("bob")).isTrue();
    assertGone(his.digest());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[outputs]", ALL})
  void the_upload_of_another_tenant_does_not_keep_an_order_waiting(String sealed) {
    startSealed(sealed);
    Content secret = output();
    Content theirs = upload(TestKeys.OTHER_TENANT, "eve", OUTPUT);
    assertThat(erased("alice")).isTrue();
    assertStays(theirs, OUTPUT);
    assertThat(ledger().copies(secret.digest()))
        .extracting(copy -> copy.owner().tenant())
        .doesNotContain(TestKeys.TENANT);
  }

  @Test
  void what_came_of_an_order_is_counted() {
    startSealed("[outputs, observations]");
    Content shared = upload(TestKeys.TENANT, "", "the price list of the tenant");
    named(mail("alice", 1), shared);
    ErasureOutcome nobodys = outcome(order("bob"));
    assertThat(nobodys.isOfNothing()).isTrue();
    Digest order = order("alice");
    assertThat(outcome(order).removed()).as("her output, and what was observed").isEqualTo(2);
    assertThat(outcome(order).kept()).as("the tenant's").isOne();
    assertThat(outcome(order).keysDestroyed()).isOne();
    assertThat(outcome(order).isOfNothing()).isFalse();
    assertThat(outcome(shared.digest()).isOfNothing()).as("no order").isFalse();
  }

  @Test
  void what_she_uploaded_herself_and_used_goes() {
    startSealed(ALL);
    Content hers = upload(TestKeys.TENANT, "alice", "a file of alice's");
    named(mail("alice", 1), hers);
    assertThat(erased("alice")).isTrue();
    assertGone(hers.digest());
  }
}
