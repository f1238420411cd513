package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import dev.writ.guardian.policy.seed.CommandLine;
import dev.writ.guardian.policy.seed.Quantity;
import dev.writ.guardian.profile.CommandAdmission;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.SecretLike;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Seed 002: role, command, directory, environment, limits; over a limit is refused. */
class ARoleRunsItsCommandsAndNoOthersTest {
  /** The seed's own example. */
  static final String EXAMPLE =
      """
      {
          "role": "developer",
          "case_id": "case-123",
          "subtask_id": "DEV-123",
          "cmd": "pytest -q",
          "cwd": "/workspace/repo",
          "timeout_sec": 300,
          "env": {"PYTHONUNBUFFERED": "1"},
          "limits": {"cpu": 1.0, "mem_mb": 2048}
      }
      """;

  private static final String SECTION =
      """
      commands:
        workspace_root: /workspace
        sandbox: wasm
        output_bytes: 1048576
        roles:
          developer:
            commands: [pytest, python, bash, sh]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: [PYTHONUNBUFFERED, API_TOKEN, LD_PRELOAD]
          analyst:
            commands: [python]
            limits: { cpu: 0.5, mem_mb: 64, timeout_sec: 1 }
        images: { pytest: "python:3.11-bookworm", sh: "debian:12-slim" }
        effect:
          tool: js
          version: 1.0.0
          operation: eval
          params: { argv: $argv, cwd: $cwd, env: $env, image: $image, may: $commands, note: $$x }
      """;

  private static final String BASE =
      World.POLICY
          .replace("roles: [analyst], surfaces", "roles: [analyst, developer], surfaces")
          .replace(
              "  analyst:\n",
              "  developer:\n"
                  + "    tools: [js]\n"
                  + "    resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }\n"
                  + "    sandboxes: [wasm]\n"
                  + "  analyst:\n");

  private static final Policy POLICY = World.policy(BASE + SECTION);

  private static CommandAdmission.Admitted admit(String json) {
    return CommandAdmission.admit(
        SeedZero.bytes(json), new ExecuteAdmission.Asker(World.TENANT, World.SUBJECT), POLICY);
  }

  /** Asked for with a token that is for fewer roles than its subject has. */
  @Test
  void aCredentialMayBeForFewerRoles() {
    Function<List<String>, CommandAdmission.Admitted> as =
        roles ->
            CommandAdmission.admit(
                SeedZero.bytes(EXAMPLE),
                new ExecuteAdmission.Asker(World.TENANT, World.SUBJECT, Optional.of(roles)),
                POLICY);
    assertThat(as.apply(List.of("analyst", "developer"))).isNotNull();
    for (List<String> others : List.of(List.of("analyst"), List.<String>of())) {
      assertThatThrownBy(() -> as.apply(others)).hasMessageStartingWith("GRD-712");
    }
  }

  /** Whoever can move a tag chooses what runs. */
  @Test
  void anImageThatIsNotNamedByItsDigestIsWarnedOf() {
    assertThat(PolicyAdvice.of(POLICY))
        .hasSize(2)
        .allSatisfy(warning -> assertThat(warning).contains("is not named by its digest"));
    String digest = "@sha256:" + "5f".repeat(32);
    String pinned = SECTION.replace(":3.11-bookworm", digest).replace(":12-slim", digest);
    assertThat(PolicyAdvice.of(World.policy(BASE + pinned))).isEmpty();
  }

  private static Policy saying(String more) {
    return World.policy(BASE + SECTION.replace("  images:", "  " + more + "\n  images:"));
  }

  @Test
  void directoriesOfTenantsLieApart() {
    assertThat(POLICY.host().workspaceOf(World.TENANT)).as("the only tenant").contains(".");
    assertThat(POLICY.host().workspaceOf("another")).contains(".");
    Policy named = saying("workspaces: { " + World.TENANT + ": of/it }");
    assertThat(named.host().workspaceOf(World.TENANT)).contains("of/it");
    assertThat(named.host().workspaceOf("another")).isEmpty();
    for (String wrong :
        List.of("{ TENANT: ../up }", "{ TENANT: /abs }", "{ TENANT: '' }", "{ nobody-s: of/it }")) {
      assertThatThrownBy(() -> saying("workspaces: " + wrong.replace("TENANT", World.TENANT)))
          .as(wrong)
          .isInstanceOf(WritException.class);
    }
    for (String nested : List.of("of/it", "of/it/too", ".")) {
      assertThatThrownBy(
              () -> saying("workspaces: { " + World.TENANT + ": of/it, other: " + nested + " }"))
          .hasMessageContaining("are not apart");
    }
  }

  @Test
  void directoriesOfARoleAreOfTheRoleThatIsAskedFor() {
    Policy policy =
        World.policy(
            BASE + SECTION.replace("timeout_sec: 1 }", "timeout_sec: 1 }\n      paths: [a, b/c]"));
    for (String cwd : List.of("/workspace/a", "/workspace/a/x", "/workspace/b/c")) {
      assertThat(admit(policy, cwd).effect().params().get("cwd"))
          .isEqualTo(JsonValue.of(cwd.substring("/workspace/".length())));
    }
    for (String cwd : List.of("/workspace", "/workspace/b", "/workspace/ab")) {
      assertThatThrownBy(() -> admit(policy, cwd)).hasMessageStartingWith("GRD-716");
    }
    assertThatThrownBy(() ->
            World.policy(
                BASE
                    + SECTION.replace("timeout_sec: 1 }", "timeout_sec: 1 }\n      paths: [../a]")))
        .isInstanceOf(WritException.class);
  }

  private static CommandAdmission.Admitted admit(Policy policy, String cwd) {
    return CommandAdmission.admit(
        SeedZero.bytes(
            "{\"role\":\"analyst\",\"case_id\":\"c\",\"cmd\":\"python x\",\"cwd\":\""
                + cwd
                + "\"}"),
        new ExecuteAdmission.Asker(World.TENANT, World.SUBJECT),
        policy);
  }

  private static String with(String pointer, JsonValue value) {
    return SeedZero.with(EXAMPLE, pointer, value);
  }

  private static void refused(String json, String code) {
    assertThatThrownBy(() -> admit(json))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith(code);
  }

  @Test
  void theSeedsOwnExampleIsOneEffect() {
    CommandAdmission.Admitted admitted = admit(EXAMPLE);
    assertThat(admitted.effect().params())
        .isEqualTo(
            World.json(
                "{\"argv\":[\"pytest\",\"-q\"],\"cwd\":\"repo\",\"env\":{\"PYTHONUNBUFFERED\":\"1\"},"
                    + "\"image\":\"python:3.11-bookworm\",\"may\":[\"bash\",\"pytest\",\"python\","
                    + "\"sh\"],\"note\":\"$x\"}"));
    assertThat(admitted.effect().resources())
        .isEqualTo(new Resources(300_000, 2048L << 20, 1_048_576, 300_000));
  }

  @Test
  void whatIsNotAskedForIsTheRolesLimit() {
    assertThat(admit("{\"role\":\"analyst\",\"case_id\":\"c\",\"cmd\":\"python x.py\"}").effect())
        .satisfies(effect -> {
          assertThat(effect.resources()).isEqualTo(new Resources(500, 64 << 20, 1_048_576, 1_000));
          assertThat(effect.params().get("cwd")).isEqualTo(JsonValue.of("."));
          assertThat(effect.params().members())
              .as("no image for python")
              .doesNotContainKey("image");
        });
  }

  @ParameterizedTest
  @CsvSource({
    "/timeout_sec, 601, GRD-718",
    "/limits/cpu, 2.001, GRD-718",
    "/limits/mem_mb, 4097, GRD-718",
    "/limits/mem_mb, 0, GRD-711",
    "/limits/cpu, 0, GRD-711",
    "/limits/gpu, 1, GRD-711",
    "/timeout_sec, 1.5, GRD-711",
    "/more, 1, GRD-711"
  })
  void overALimitIsRefusedAndNotCutDown(String pointer, double value, String code) {
    refused(with(pointer, new JsonValue.Num(value)), code);
  }

  @ParameterizedTest
  @CsvSource({
    "/role, qa, GRD-712",
    "/role, nobody, GRD-712",
    "/cmd, kubectl get pods, GRD-714",
    "/cmd, /usr/bin/pytest, GRD-714",
    "/cmd, '\"unclosed', GRD-713",
    "/cmd, ' ', GRD-711",
    "/cwd, /workspace/../etc, GRD-716",
    "/cwd, /etc, GRD-716",
    "/cwd, /workspaces, GRD-716",
    "/cwd, repo, GRD-716",
    "/cwd, /workspace/./a, GRD-716",
    "/cwd, /workspace//a, GRD-716"
  })
  void oneRefusalForEachQuestion(String pointer, String value, String code) {
    refused(with(pointer, JsonValue.of(value)), code);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PATH", "API_TOKEN", "LD_PRELOAD", "UNLISTED"})
  void variablesThatAreUnlistedOrSensitiveAreRefused(String name) {
    refused(with("/env", JsonValue.object().put(name, "x").build()), "GRD-717");
  }

  @Test
  void sensitiveValuesAreRefusedUnderAnyName() {
    refused(
        with("/env", JsonValue.object().put("PYTHONUNBUFFERED", "AKIAABCDEFGHIJKLMNOP").build()),
        "GRD-717");
  }

  /** A refusal that names nothing sends its reader to the request, which a log has not. */
  @ParameterizedTest
  @CsvSource({
    "/role, nobody, names a role without commands: \"nobody\"",
    "/cmd, kubectl get pods, \"kubectl\": role",
    "/cmd, ghp_0123456789abcdefghijKL x, what is named: role",
    "/cwd, /etc, \"/etc\": the root is /workspace",
    "/cwd, /etc/shadow, what is named: the root is"
  })
  void whatIsRefusedIsNamedUnlessItMayBeASecret(String pointer, String value, String told) {
    String json = with(pointer, JsonValue.of(value));
    assertThatThrownBy(() -> admit(json)).hasMessageContaining(told);
  }

  @Test
  void aVariableThatIsRefusedIsNamed() {
    for (String[] each :
        new String[][] {{"FOO", "\"FOO\": role"}, {"PWD", "\"PWD\" is sensitive"}}) {
      String json = with("/env", JsonValue.object().put(each[0], "x").build());
      assertThatThrownBy(() -> admit(json)).hasMessageContaining(each[1]);
    }
  }

  @Test
  void aLineThatNeedsAShellIsGivenToOneOrRefused() {
    String piped = "pytest -q | tee out";
    assertThat(admit(with("/cmd", JsonValue.of(piped))).effect().params().get("argv"))
        .isEqualTo(World.json("[\"sh\",\"-c\",\"pytest -q | tee out\"]"));
    refused("{\"role\":\"analyst\",\"case_id\":\"c\",\"cmd\":\"python x.py; id\"}", "GRD-715");
    refused("{\"role\":\"analyst\",\"case_id\":\"c\",\"cmd\":\"sh -c id\"}", "GRD-714");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a|b",
        "a&",
        "a;b",
        "a<b",
        "a>b",
        "(a)",
        "a $b",
        "a `b`",
        "a *",
        "a ?",
        "a [b]",
        "a {b,c}",
        "a\nb",
        "#a",
        "~a",
        "X=1 a",
        "a \"$b\"",
        "a \"`b`\"",
        "a !b",
        "a \\\nb"
      })
  void whatOnlyAShellMeansIsNeverReadAsPlain(String line) {
    assertThat(CommandLine.parse(line).orElseThrow().needsShell()).isPresent();
    assertThat(CommandLine.parse(line).orElseThrow().words()).isEmpty();
  }

  @Test
  void whatEndsAWordAndWhatDoesNot() {
    assertThat(CommandLine.parse("a\tb  c ").orElseThrow().words()).containsExactly("a", "b", "c");
    assertThat(CommandLine.parse(" ").orElseThrow().words()).isEmpty();
    assertThat(CommandLine.parse("\"a\\b\"").orElseThrow().words()).containsExactly("a\\b");
    assertThat(CommandLine.parse("\"a\\")).as("a quote that does not end").isEmpty();
    for (String joined : List.of("a\\\nb", "a\\\rb", "\"a\\\nb\"")) {
      assertThat(CommandLine.parse(joined).orElseThrow().needsShell()).as(joined).isPresent();
    }
  }

  @Test
  void quotesMakeOneWord() {
    assertThat(
            CommandLine.parse("echo 'a  b' \"c \\\"d\\\" \\\\ |\" e\\ f '' g#h i~ -x=1")
                .orElseThrow())
        .isEqualTo(
            new CommandLine(
                List.of("echo", "a  b", "c \"d\" \\ |", "e f", "", "g#h", "i~", "-x=1"),
                Optional.empty()));
    for (String open : List.of("a 'b", "a \"b", "a \\", "a \"b\\\"", "a\0b")) {
      assertThat(CommandLine.parse(open)).as(open).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "500m, 500",
    "0.5, 500",
    "1, 1000",
    "1e1, 10000",
    "1m, 1",
    "0.0001, 1",
    "2k, 2000000",
    "1E, 9007199254740991"
  })
  void amountsAreParsedAndRoundedUp(String text, long milli) {
    assertThat(Quantity.milli(text)).contains(milli);
  }

  @Test
  void memoryHasBinaryAndDecimalSuffixes() {
    assertThat(Quantity.units("128Mi")).contains(128L << 20);
    assertThat(Quantity.units("128M")).contains(128_000_000L);
    assertThat(Quantity.units("1Ki")).contains(1024L);
    for (String wrong :
        List.of("", "m", "-1", "1.", ".5", "1 Mi", "1mi", "0", "0x10", "1e", "+1", "1Qi")) {
      assertThat(Quantity.units(wrong)).as(wrong).isEmpty();
    }
  }

  @Test
  void secretsAreKnownByTheirNamesAndForms() {
    for (String name :
        List.of("password", "dbPassword", "API-KEY", "accessKey", "auth_token", "client_secret")) {
      assertThat(SecretLike.name(name)).as(name).isTrue();
    }
    for (String name : List.of("max_tokens", "keyboard", "secretary", "passing", "author")) {
      assertThat(SecretLike.name(name)).as(name).isFalse();
    }
    for (String text :
        List.of(
            "-----BEGIN RSA PRIVATE KEY-----",
            "vault:kv/db",
            "secret://db",
            "${secrets.DB}",
            "cat ~/.ssh/id_rsa",
            "cat /proc/self/environ",
            "echo $DB_PASSWORD",
            "arn:aws:secretsmanager:eu-west-1:1:secret:x")) {
      assertThat(SecretLike.text(text)).as(text).isTrue();
    }
    for (String text : List.of("echo 'hello'", "print('vault')", "a:b", "$HOME", "/proc/cpuinfo")) {
      assertThat(SecretLike.text(text)).as(text).isFalse();
    }
  }

  @Test
  void aPolicyThatNamesWhatIsNotThereIsRefusedWithItsPlace() {
    for (String[] change :
        new String[][] {
          {"tool: js\n", "tool: gone\n", "GRD-510"},
          {"$argv", "$nothing", "GRD-505"},
          {"analyst:\n      commands", "stranger:\n      commands", "GRD-510"},
          {"/workspace\n", "workspace\n", "GRD-505"},
          {"cpu: 2.0", "cpu: 0", "GRD-505"},
          {"cpu: 2.0", "cpu: much", "GRD-504"},
        }) {
      String changed = SECTION.replace(change[0], change[1]);
      assertThat(changed).as(change[0]).isNotEqualTo(SECTION);
      String yaml =
          World.POLICY.replace(
                  "  analyst:\n",
                  "  developer:\n"
                      + "    tools: [js]\n"
                      + "    resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1"
                      + " }\n"
                      + "    sandboxes: [wasm]\n"
                      + "  analyst:\n")
              + changed;
      assertThatThrownBy(() -> World.policy(yaml))
          .as(change[1])
          .isInstanceOf(WritException.class)
          .hasMessageStartingWith(change[2])
          .hasMessageContaining("policy.yaml line");
    }
  }
}
