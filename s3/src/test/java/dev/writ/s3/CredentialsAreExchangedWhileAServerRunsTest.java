package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;

/** A new key comes to the server's machine a moment before or after the store knows it. */
class CredentialsAreExchangedWhileAServerRunsTest {
  private final S3Server server = S3Server.shared();
  private final URI direct = server.newAddress();

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void theAnchorIsMovedOnceTheStoreTakesTheKey() throws IOException {
    try (S3Relay relay = new S3Relay(server.port());
        LargeContents store = new S3Provider().at(relay.address(direct))) {
      SharedAnchor anchor = store.anchor().orElseThrow();
      assertThat(anchor.move(bytes("one"))).isTrue();
      AtomicInteger refusals = new AtomicInteger();
      relay.does((request, behind) ->
          Optional.of(
              refusals.getAndIncrement() < 2
                  ? S3Relay.answer(403, "InvalidAccessKeyId")
                  : behind.answer(request)));
      assertThat(anchor.move(bytes("two"))).isTrue();
      assertThat(server.get(direct, "anchor")).isEqualTo(bytes("two"));
    }
  }

  @Test
  void aKeyThatTheStoreNeverTakesIsToldWithinThePatience() throws IOException {
    try (S3Relay relay = new S3Relay(server.port())) {
      String hasty = relay.address(direct).toString().replace("patience_s=20", "patience_s=2");
      try (LargeContents store = new S3Provider().at(URI.create(hasty))) {
        SharedAnchor anchor = store.anchor().orElseThrow();
        assertThat(anchor.move(bytes("one"))).isTrue();
        relay.does((_, _) -> Optional.of(S3Relay.answer(403, "InvalidAccessKeyId")));
        assertThatThrownBy(() -> anchor.move(bytes("two")))
            .isInstanceOfSatisfying(
                WritException.class,
                e -> assertThat(e.code()).isEqualTo(ObjectStoreError.CREDENTIALS));
        assertThat(relay.lines()).hasSizeGreaterThan(1);
      }
    }
  }

  @Test
  void oneThatWasNeverLetInIsToldAtOnce() throws IOException {
    try (S3Relay relay = new S3Relay(server.port());
        LargeContents store = new S3Provider().at(relay.address(direct))) {
      relay.does((_, _) -> Optional.of(S3Relay.answer(403, "InvalidAccessKeyId")));
      assertThatThrownBy(() -> store.anchor().orElseThrow().read())
          .isInstanceOf(WritException.class);
      assertThat(relay.lines()).hasSize(1);
    }
  }

  @Test
  void credentialsThatCannotBeReadJustNowAreThoseOfBefore() {
    AwsCredentials first = AwsBasicCredentials.create("first", "a");
    AwsCredentials second = AwsBasicCredentials.create("second", "b");
    AtomicReference<Supplier<AwsCredentials>> source = new AtomicReference<>(() -> first);
    KeptCredentials kept = new KeptCredentials(() -> source.get().get());
    source.set(() -> {
      throw new IllegalArgumentException("Profile definition must end with ']' on line 1");
    });
    assertThat(kept.resolveCredentials()).isEqualTo(first);
    source.set(() -> second);
    assertThat(kept.resolveCredentials()).isEqualTo(second);
  }
}
