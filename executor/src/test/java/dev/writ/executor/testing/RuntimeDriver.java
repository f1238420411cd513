package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.util.Optional;

/** A {@link TestDriver} whose tools need a language runtime. */
public final class RuntimeDriver implements Driver {
  private final TestDriver driver;
  private volatile String version = "3.13.5";

  public RuntimeDriver(TestDriver driver) {
    this.driver = driver;
  }

  /** From now on the host has another version. */
  public void has(String other) {
    version = other;
  }

  @Override
  public String name() {
    return driver.name();
  }

  @Override
  public Determinism determinism() {
    return driver.determinism();
  }

  @Override
  public Digest sandboxProfile(String profile) {
    return driver.sandboxProfile(profile);
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return driver.prepare(manifest, operation, content);
  }

  @Override
  public Optional<LanguageRuntime> runtime(ToolManifest manifest) {
    return Optional.of(new LanguageRuntime("python", version));
  }
}
