package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.Call;
import dev.writ.tools.mcp.oauth.Login;
import dev.writ.tools.mcp.oauth.OauthSpec.Grant;
import dev.writ.tools.mcp.oauth.OauthWeb;
import dev.writ.tools.mcp.oauth.TestOauth;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A person who logs in at a server elsewhere, pins it, and calls its tool. */
record TestLogins(TestHosts hosts, SecretDirectory secrets, TestOauth oauth) {
  static final String TOKENS = "mcp-crm-oauth";

  RemoteSpec remote() {
    return new RemoteSpec(RemoteSpec.requireUrl(oauth.url()), new TreeMap<>());
  }

  static Login.Wish wish() {
    return new Login.Wish(Optional.empty(), Optional.empty(), List.of(), List.of());
  }

  /** Agrees to what is wished, and keeps the tokens. */
  RemoteSpec loggedIn(Login.Wish wish) {
    return loggedIn(wish, _ -> {});
  }

  /**
   * @param seen is shown the address at which it agrees
   */
  RemoteSpec loggedIn(Login.Wish wish, Consumer<String> seen) {
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), remote().url())) {
      Login login = Login.at(web, wish);
      String address = login.begin("http://127.0.0.1:1/callback");
      seen.accept(address);
      secrets.put(TOKENS, login.finish(oauth.agree(address).orElseThrow()).toBytes());
      return remote().with(login.spec(Grant.AUTHORIZATION_CODE, Optional.empty(), TOKENS));
    }
  }

  UpstreamPackage pinned(RemoteSpec remote) {
    ServerSpec spec = ServerSpec.elsewhere(remote, 60_000);
    List<SecretFile> files =
        spec.secretNames().stream().map(n -> new SecretFile(n, secrets.read(n))).toList();
    PinnedTools tools =
        UpstreamProbe.look(
                hosts.host(), spec, new TreeMap<>(), new Call(null).invocation().scope(), files)
            .tools();
    return UpstreamPackage.of("crm", "1.0.0", spec, tools, new TreeMap<>());
  }

  static DriverOutcome run(McpDriver driver, UpstreamPackage upstream) {
    Invocation call =
        new Call(null)
            .sandbox("default")
            .params(JsonValue.object().put("a", 2L).put("b", 3L).build())
            .invocation();
    return driver
        .prepare(
            upstream.manifest(),
            "add",
            file -> upstream.files().get(file.path()),
            HostTerms.NONE,
            new ExpectedCall(call.scope(), call.resources(), call.sandbox(), false))
        .run(call);
  }
}
