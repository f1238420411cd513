package dev.writ.sandbox;

import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommandsRunConfinedTest {
  static java.util.List<String> engines() {
    return java.util.List.of("bubblewrap");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void smoke(String name) {
    try (TestEngines engines = TestEngines.open()) {
      try (Sandbox sandbox =
          engines.named(name).create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
        for (int i=0;i<300;i++) {
          Ended e = sandbox.exec(i%2==0?Command.of("python3", "--version"):Command.of("sh","-c","echo héé; id; cat; ls -la / /workspace /dev /run; exit 3"));
          System.out.println(e.reason() + " " + e.exitCode() +e.signal() + " " + e.usage() +" "+e.stdout().bytes().length+" "+e.stdout().total()+" "+ new String(e.stderr().bytes(), StandardCharsets.UTF_8));
        }
      }
    }
  }
}
