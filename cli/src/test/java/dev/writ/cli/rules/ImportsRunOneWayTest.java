package dev.writ.cli.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Imports run one way, between modules and between packages, and each library has one home. */
class ImportsRunOneWayTest {

  /** What each module may see of the others. cli and bench see all and wire them. */
  private static final Map<String, List<String>> MAY_SEE =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("canonicalize", List.of()),
              Map.entry("guardian", List.of("canonicalize")),
              Map.entry("ledger", List.of("canonicalize")),
              Map.entry("executor", List.of("canonicalize", "guardian", "ledger")),
              Map.entry("fixture", List.of("canonicalize", "guardian", "ledger", "executor")),
              Map.entry("sandbox", List.of("canonicalize")),
              Map.entry("kube", List.of("canonicalize", "sandbox")),
              Map.entry("postgres", List.of("canonicalize", "ledger")),
              Map.entry("s3", List.of("canonicalize", "ledger")),
              Map.entry(
                  "tools", List.of("canonicalize", "guardian", "ledger", "executor", "sandbox")),
              Map.entry("verify", List.of("canonicalize", "guardian", "ledger", "executor")),
              Map.entry(
                  "replay", List.of("canonicalize", "guardian", "ledger", "executor", "verify")),
              Map.entry(
                  "conform",
                  List.of(
                      "canonicalize",
                      "guardian",
                      "ledger",
                      "executor",
                      "fixture",
                      "verify",
                      "replay")),
              Map.entry(
                  "gateway",
                  List.of("canonicalize", "guardian", "ledger", "executor", "verify", "tools")),
              Map.entry("client", List.of("canonicalize", "guardian")),
              Map.entry("adapters", List.of("canonicalize", "guardian", "client")),
              Map.entry(
                  "embed",
                  List.of(
                      "canonicalize",
                      "guardian",
                      "ledger",
                      "executor",
                      "verify",
                      "replay",
                      "sandbox",
                      "tools")),
              Map.entry(
                  "surfaces",
                  List.of(
                      "canonicalize",
                      "guardian",
                      "ledger",
                      "executor",
                      "verify",
                      "tools",
                      "client",
                      "gateway")),
              Map.entry(
                  "console",
                  List.of(
                      "canonicalize",
                      "guardian",
                      "ledger",
                      "executor",
                      "verify",
                      "replay",
                      "tools",
                      "gateway")),
              Map.entry(
                  "sinks",
                  List.of(
                      "canonicalize",
                      "guardian",
                      "ledger",
                      "executor",
                      "replay",
                      "gateway",
                      "surfaces")),
              Map.entry(
                  "grpc",
                  List.of("canonicalize", "guardian", "ledger", "executor", "gateway", "surfaces")),
              Map.entry("kms", List.of("canonicalize", "embed")),
              Map.entry("testkit", List.of("canonicalize", "guardian", "embed")),
              Map.entry("cli", List.of("*")),
              Map.entry("bench", List.of("*"))));

  /** Packages of libraries, and the only packages of ours that may use them. */
  private static final Map<String, List<String>> HOMES =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("org.erdtman", List.of("dev.writ.canonicalize.json", "dev.writ.bench")),
              Map.entry("org.webpki", List.of("dev.writ.canonicalize.json")),
              Map.entry(
                  "org.bouncycastle",
                  List.of(
                      "dev.writ.canonicalize",
                      "dev.writ.verify.stamp",
                      "dev.writ.bench",
                      "dev.writ.fixture")),
              Map.entry(
                  "org.pcollections", List.of("dev.writ.canonicalize.trust", "dev.writ.executor")),
              Map.entry("com.amazon.corretto", List.of("dev.writ.canonicalize.crypto")),
              Map.entry("org.rocksdb", List.of("dev.writ.ledger", "dev.writ.bench")),
              Map.entry("org.postgresql", List.of("dev.writ.postgres")),
              Map.entry("com.zaxxer", List.of("dev.writ.postgres")),
              Map.entry("org.flywaydb", List.of("dev.writ.postgres")),
              Map.entry("software.amazon", List.of("dev.writ.s3", "dev.writ.kms")),
              Map.entry("dev.cel", List.of("dev.writ.guardian")),
              Map.entry("org.snakeyaml", List.of("dev.writ.guardian")),
              Map.entry("com.networknt", List.of("dev.writ.guardian")),
              Map.entry(
                  "tools.jackson",
                  List.of(
                      "dev.writ.guardian",
                      "dev.writ.surfaces",
                      "dev.writ.bench",
                      "dev.writ.cli.setup")),
              Map.entry("com.dylibso.chicory", List.of("dev.writ.tools")),
              Map.entry("io.roastedroot", List.of("dev.writ.tools")),
              Map.entry("com.exceptionfactory.jagged", List.of("dev.writ.cli.backup")),
              Map.entry("com.nimbusds", List.of("dev.writ.console.oidc")),
              Map.entry("io.vertx", List.of("dev.writ.gateway", "dev.writ.bench")),
              Map.entry("io.netty", List.of("dev.writ.gateway", "dev.writ.grpc")),
              Map.entry("io.grpc", List.of("dev.writ.grpc")),
              Map.entry("com.google.protobuf", List.of("dev.writ.grpc")),
              Map.entry("io.fabric8", List.of("dev.writ.kube")),
              Map.entry("io.modelcontextprotocol", List.of("dev.writ.surfaces.mcp")),
              Map.entry("reactor", List.of("dev.writ.surfaces.mcp")),
              Map.entry("dev.langchain4j", List.of("dev.writ.adapters.langchain4j")),
              Map.entry("org.springframework", List.of("dev.writ.adapters.springai")),
              Map.entry("io.lettuce", List.of("dev.writ.sinks.redis")),
              Map.entry("org.neo4j", List.of("dev.writ.sinks.neo4j")),
              Map.entry("io.micrometer", List.of("dev.writ.gateway.ops")),
              Map.entry("io.opentelemetry", List.of("dev.writ.gateway.ops")),
              Map.entry("io.prometheus", List.of("dev.writ.gateway.ops")),
              Map.entry("picocli", List.of("dev.writ.cli", "dev.writ.bench"))));

  private final JavaClasses classes = Project.classes();

  @Test
  void everyModuleWithSourcesIsSeenHereAndHasARule() {
    var seen = new TreeSet<String>();
    classes.forEach(c -> seen.add(module(c)));
    // bench may see all, so nothing of it needs to be on the class path here.
    List<String> ruled =
        Project.modulesWithSources().stream().filter(module -> !module.equals("bench")).toList();
    assertThat(seen).containsAll(ruled);
    assertThat(MAY_SEE).as("modules that have a rule").containsKeys(seen.toArray(String[]::new));
  }

  @TestFactory
  List<DynamicTest> aModuleSeesOnlyTheModulesBelowIt() {
    List<DynamicTest> tests = new ArrayList<>();
    MAY_SEE.forEach((module, others) ->
        tests.add(
            DynamicTest.dynamicTest(
                module, () -> sees(module, others).allowEmptyShould(true).check(classes))));
    return tests;
  }

  @Test
  void packagesHaveNoCycles() {
    SlicesRuleDefinition.slices()
        .matching("dev.writ.(**)")
        .should()
        .beFreeOfCycles()
        .check(classes);
  }

  @TestFactory
  List<DynamicTest> aLibraryIsUsedInItsHomeOnly() {
    List<DynamicTest> tests = new ArrayList<>();
    HOMES.forEach((library, homes) ->
        tests.add(DynamicTest.dynamicTest(library, () -> home(library, homes).check(classes))));
    return tests;
  }

  @Test
  void theRulesCatchWhatTheyForbid() {
    assertThatThrownBy(() -> sees("cli", List.of()).check(classes))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("dev.writ.canonicalize");
    assertThatThrownBy(() -> home("org.bouncycastle", List.of("dev.writ.cli")).check(classes))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("org.bouncycastle");
    assertThatThrownBy(() -> home("picocli", List.of("dev.writ.guardian")).check(classes))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("dev.writ.cli");
  }

  private static ArchRule sees(String module, List<String> others) {
    return noClasses()
        .that(DescribedPredicate.describe("are in " + module, (JavaClass c) -> isIn(c, module)))
        .should()
        .dependOnClassesThat(
            DescribedPredicate.describe(
                "are in a module other than " + others,
                (JavaClass c) ->
                    under(c.getPackageName(), "dev.writ")
                        && !isIn(c, module)
                        && !others.contains("*")
                        && !others.contains(module(c))));
  }

  private static ArchRule home(String library, List<String> homes) {
    return noClasses()
        .that(
            DescribedPredicate.describe(
                "are outside " + homes,
                (JavaClass c) -> homes.stream().noneMatch(h -> under(c.getPackageName(), h))))
        .should()
        .dependOnClassesThat(
            DescribedPredicate.describe(
                "are of " + library, (JavaClass c) -> under(c.getPackageName(), library)));
  }

  private static boolean isIn(JavaClass c, String module) {
    return under(c.getPackageName(), "dev.writ." + module);
  }

  private static boolean under(String name, String parent) {
    return name.equals(parent) || name.startsWith(parent + ".");
  }

  private static String module(JavaClass c) {
    String rest = c.getPackageName().substring("dev.writ".length());
    return rest.isEmpty() ? "(root package)" : rest.substring(1).split("\\.", 2)[0];
  }
}
