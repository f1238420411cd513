package dev.writ.cli.command.serve;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolArchive;
import dev.writ.tools.author.ToolProject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/**
 * The tool package of the demo: the project that {@code writ tool new} creates, signed and
 * registered. It is in Python if this host can confine Python, otherwise in WebAssembly.
 */
record DemoPackage(Language language, ToolProject project) {
  static final String TOOL = "word-stats";

  private static final String PUBLISHER = "publisher";
  private static final Path PYTHON = Path.of("/usr/bin/python3");

  static DemoPackage make(Path folder, boolean confined) {
    Language language = confined && Files.isExecutable(PYTHON) ? Language.PYTHON : Language.WASM;
    Templates.make(language, TOOL, folder);
    return new DemoPackage(language, ToolProject.open(folder));
  }

  ToolManifest manifest() {
    return project.manifest();
  }

  /**
   * Enrols a publisher, signs the package with its key, verifies it and puts it into the registry.
   */
  void register(OpenHome open, SecureRandom random) {
    SigningKey publisher = SigningKey.generateEd25519(random);
    ServeDemo.enrol(open, publisher, KeyRole.PUBLISHER, Optional.empty(), PUBLISHER);
    ToolArchive archive = ToolArchive.of(project).signed(publisher);
    archive.verify(open.kernel().system().trust(), open.kernel().now());
    open.registry().register(manifest(), project.files(), archive.signature().orElseThrow());
  }

  /**
   * What is asked of it, with every member that the seed names.
   *
   * @param policy the name of the policy in force
   */
  JsonValue.Obj request(String tenant, String policy) {
    return JsonValue.object()
        .put("toolId", TOOL)
        .put("toolVersion", manifest().version())
        .put("language", language.text())
        .put("operation", "count")
        .put("inputPayload", JsonValue.object().put("text", "one contract, any language").build())
        .putList("inputArtifacts", List.<JsonValue>of(), artifact -> artifact)
        .put("executionPolicyId", policy)
        .put("resourceClass", "small")
        .put("timeoutBudgetMs", 10_000)
        .put("correlationId", "case-123")
        .put("tenantId", tenant)
        .put("requestId", "count-1")
        .build();
  }
}
