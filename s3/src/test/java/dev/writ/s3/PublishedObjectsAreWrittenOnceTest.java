package dev.writ.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.publish.PublicPlace;
import dev.writ.ledger.publish.PublicPlaceProvider;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PublishedObjectsAreWrittenOnceTest {
  private final S3Server server = S3Server.shared();
  private final URI address = server.newAddress();

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private PublicPlace place() {
    return PublicPlaceProvider.find(address).orElseThrow();
  }

  @Test
  void anObjectThatIsThereStaysAsItIs() throws IOException {
    assertThat(place().read("1.txt")).isEmpty();
    assertThat(place().create("1.txt", bytes("one"))).isTrue();
    assertThat(place().create("1.txt", bytes("one"))).as("as after a restart").isTrue();
    assertThat(place().create("1.txt", bytes("another"))).isFalse();
    assertThat(server.get(address, "1.txt")).isEqualTo(bytes("one"));
  }

  @Test
  void whoeverWasFasterIsNotOverwritten() throws IOException {
    assertThat(place().change("latest.txt", _ -> Optional.of(bytes("one")))).isTrue();
    assertThat(
            place()
                .change(
                    "latest.txt",
                    before -> {
                      assertThat(before).hasValue(bytes("one"));
                      server.put(address, "latest.txt", bytes("of another writer"));
                      return Optional.of(bytes("two"));
                    }))
        .isFalse();
    assertThat(place().read("latest.txt")).hasValue(bytes("of another writer"));
    assertThat(place().change("latest.txt", _ -> Optional.of(bytes("three")))).isTrue();
    assertThat(server.get(address, "latest.txt")).isEqualTo(bytes("three"));
  }

  @Test
  void anAddressWithASecretIsRefusedAndNotShown() {
    assertThatThrownBy(() -> PublicPlaceProvider.find(URI.create("s3://key:hidden@writ/a")))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ObjectStoreError.ADDRESS))
        .hasMessageNotContaining("hidden");
    assertThat(PublicPlaceProvider.find(URI.create("ftp://writ/a"))).isEmpty();
  }
}
