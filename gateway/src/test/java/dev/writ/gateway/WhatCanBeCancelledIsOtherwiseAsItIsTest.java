package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.pipeline.Running;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The server's wrapper of a driver must not lose what the kernel tells the driver. */
class WhatCanBeCancelledIsOtherwiseAsItIsTest {
  @Test
  void theDriverIsToldWhatPolicySaysOfHosts() {
    TestDriver driver = new TestDriver();
    Driver wrapped = new Running().cancellable(driver);
    ToolManifest manifest =
        TestTools.manifest("calc", Determinism.PURE, TestDriver.NAME, TestDriver.SANDBOX);
    HostTerms terms =
        new HostTerms(
            List.of("memory-limit"), new TreeMap<>(), Optional.empty(), ResourceClasses.DEFAULT);
    wrapped.prepare(manifest, "run", file -> new byte[0], terms);
    wrapped.prepare(manifest, "run", file -> new byte[0]);
    assertThat(driver.waived()).containsExactly(List.of("memory-limit"), List.of());
    assertThat(wrapped.name()).isEqualTo(driver.name());
    assertThat(wrapped.determinism()).isEqualTo(driver.determinism());
    assertThat(wrapped.sandboxProfile(TestDriver.SANDBOX))
        .isEqualTo(driver.sandboxProfile(TestDriver.SANDBOX));
  }
}
