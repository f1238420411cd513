package dev.writ.surfaces.seed;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.ToolSource;
import java.util.List;

/** The driver of a language, under which tool packages do what a test says. */
public final class ScriptedLanguage implements Driver {
  public static final String NAME = "python";

  private final TestDriver script;

  public ScriptedLanguage(TestDriver script) {
    this.script = script;
  }

  /** A package of the class medium, as far as its manifest tells. */
  public static ToolManifest manifest(String name, String version) {
    ToolManifest any = TestTools.manifest(name, Determinism.RECORDED);
    ToolManifest.PackageFile code = any.files().getFirst();
    return new ToolManifest(
        name,
        version,
        NAME,
        Determinism.RECORDED,
        any.operations(),
        any.capabilities(),
        new Resources(60_000, 1 << 30, 8 << 20, 60_000),
        any.sandboxes(),
        List.of(new ToolManifest.PackageFile(ToolSource.FILE, code.digest(), code.size())));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.REPRODUCIBLE;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    return script.sandboxProfile(profile);
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return script.prepare(manifest, operation, content);
  }
}
