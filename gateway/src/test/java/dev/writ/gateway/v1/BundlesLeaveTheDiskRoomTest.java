package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.BundleExport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** However many bundles a tenant asks for and reads slowly, the disk keeps room for others. */
class BundlesLeaveTheDiskRoomTest {
  private static final long MIB = 1 << 20;

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    assertThat(gateway.submit(gateway.home.ask("alice").run("run-1").tool("mail").sign()).status())
        .isEqualTo(200);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private RunBundle bundles(TemporaryStorage storage) {
    BundleExport.Packages packages =
        new BundleExport.Packages() {
          @Override
          public Optional<ToolManifest> manifest(ToolRef tool) {
            return gateway.home.tools.manifest(tool.name(), tool.version());
          }

          @Override
          public Driver.PackageContent files(ToolManifest manifest) {
            return gateway.home.tools.content(manifest);
          }
        };
    return new RunBundle(packages, storage);
  }

  private HttpAnswer.Body.Stream bundle(RunBundle bundles) {
    RunId run = new RunId(TestKeys.TENANT, "run-1");
    return (HttpAnswer.Body.Stream) bundles.of(gateway.home.kernel(), run).body();
  }

  @Test
  void a_bundle_too_many_is_refused_until_one_was_sent() {
    TemporaryStorage storage = new TemporaryStorage(() -> 8 * MIB);
    RunBundle bundles = bundles(storage);
    List<HttpAnswer.Body.Stream> held = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      held.add(bundle(bundles));
    }
    assertThatThrownBy(() -> bundle(bundles)).hasMessageContaining("GWY-051");
    assertThat(Problems.status(GatewayError.STORAGE_BUSY)).isEqualTo(503);
    try (TemporaryStorage.Lease other = storage.lease("another")) {
      other.grow(MIB);
    }
    held.removeLast().release().run();
    held.add(bundle(bundles));
    held.forEach(answer -> answer.release().run());
    try (TemporaryStorage.Lease all = storage.lease(TestKeys.TENANT)) {
      all.grow(3 * MIB);
    }
  }

  @Test
  void a_quarter_of_what_is_free_stays_free_whoever_asks() {
    TemporaryStorage storage = new TemporaryStorage(() -> 8 * MIB);
    List<TemporaryStorage.Lease> leases = new ArrayList<>();
    for (String tenant : List.of("a", "b")) {
      leases.add(storage.lease(tenant));
      leases.getLast().grow(3 * MIB);
    }
    TemporaryStorage.Lease refused = storage.lease("a");
    assertThatThrownBy(() -> refused.grow(4 * MIB)).hasMessageContaining("GWY-051");
    refused.close();
    leases.forEach(TemporaryStorage.Lease::close);
    assertThatThrownBy(() -> new TemporaryStorage(() -> 0).lease("a").grow(1))
        .hasMessageContaining("GWY-051");
  }

  @Test
  void what_is_wanted_in_memory_is_not_written_beyond_it() {
    RunBundle bundles = bundles(new TemporaryStorage(() -> 8 * MIB));
    RunId run = new RunId(TestKeys.TENANT, "run-1");
    assertThat(bundles.bytes(gateway.home.kernel(), run, 100)).isEmpty();
    assertThat(bundles.bytes(gateway.home.kernel(), run, 1 << 20)).isPresent();
  }
}
