package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Within a tenant a digest opens nothing to whom the content is not (L2). */
class ADigestIsNoRightTest {
  private static final byte[] SECRET = "alice's own file".getBytes(StandardCharsets.UTF_8);
  private static final Digest DIGEST = Digest.sha256(SECRET);

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private Reply put(String as, byte[] content) {
    return gateway.send(
        gateway
            .as(as, "/v1/blobs/" + Digest.sha256(content))
            .PUT(HttpRequest.BodyPublishers.ofByteArray(content)));
  }

  private Envelope naming(String as, String run, Digest digest, long size) {
    return gateway.home.ask(as).run(run).tool("mail").input("in", digest, size).sign();
  }

  private int read(String as, String path) {
    return gateway.get(as, path).status();
  }

  @Test
  void naming_it_in_a_request_opens_nothing_to_whom_it_is_not() {
    assertThat(put("alice", SECRET).status()).isEqualTo(201);
    Envelope naming = naming("bob", "bobs", DIGEST, SECRET.length);
    Reply refused = gateway.submit(naming);
    Digest nowhere = Digest.sha256(new byte[] {7});
    Reply unknown = gateway.submit(naming("bob", "bobs", nowhere, SECRET.length));
    assertThat(refused.string("code")).isEqualTo("EXE-306");
    assertThat(refused.status()).isEqualTo(unknown.status());
    assertThat(unknown.string("code")).isEqualTo("EXE-306");
    assertThat(gateway.home.driver.runs()).isEmpty();
    for (String path :
        List.of("/v1/blobs/" + DIGEST, "/v1/blobs/" + DIGEST + "?of=" + naming.id())) {
      Reply foreign = gateway.get("bob", path);
      assertThat(foreign.status()).as(path).isEqualTo(404);
      assertThat(foreign.text()).doesNotContain("alice");
    }
    // A denied request names it as well as any.
    Envelope denied =
        gateway
            .home
            .ask("bob")
            .run("bobs")
            .tool("mail")
            .params("{\"forbidden\":1}")
            .input("in", DIGEST, SECRET.length)
            .sign();
    assertThat(gateway.submit(denied).status()).isEqualTo(403);
    assertThat(read("bob", "/v1/blobs/" + DIGEST + "?of=" + denied.id())).isEqualTo(404);
    byte[] bundle = gateway.get("bob", "/v1/runs/bobs/bundle").response().body();
    assertThat(new String(bundle, StandardCharsets.ISO_8859_1))
        .doesNotContain(new String(SECRET, StandardCharsets.UTF_8));
    assertThat(read("alice", "/v1/blobs/" + DIGEST)).isEqualTo(200);
    assertThat(read("deputy", "/v1/blobs/" + DIGEST)).isEqualTo(200);
    assertThat(read("eve", "/v1/blobs/" + DIGEST)).isEqualTo(404);
  }

  @Test
  void an_approver_sees_the_inputs_of_what_waits_as_far_as_they_are_the_callers() {
    put("alice", SECRET);
    Envelope own = waiting("alice", "hers");
    Envelope foreign = waiting("bob", "bobs");
    Reply seen = gateway.get("rita", "/v1/blobs/" + DIGEST + "?of=" + own.id());
    assertThat(seen.response().body()).isEqualTo(SECRET);
    assertThat(read("rita", "/v1/blobs/" + DIGEST + "?of=" + foreign.id())).isEqualTo(404);
    assertThat(read("rita", "/v1/blobs/" + DIGEST)).isEqualTo(404);
    for (String other : List.of("bob", "eve")) {
      assertThat(read(other, "/v1/blobs/" + DIGEST + "?of=" + own.id())).as(other).isEqualTo(404);
    }
    gateway.home.approve(own, "rita");
    assertThat(gateway.submit(own).status()).isEqualTo(200);
    assertThat(read("rita", "/v1/blobs/" + DIGEST + "?of=" + own.id())).isEqualTo(404);
  }

  private Envelope waiting(String as, String run) {
    Envelope request =
        gateway.home.ask(as).run(run).tool("pay").input("in", DIGEST, SECRET.length).sign();
    assertThat(gateway.submit(request).status()).isEqualTo(202);
    return request;
  }

  @Test
  void putting_what_is_there_looks_as_putting_what_is_new_and_is_a_right_of_ones_own() {
    Reply first = put("alice", SECRET);
    Reply second = put("bob", SECRET);
    assertThat(second.status()).isEqualTo(first.status());
    assertThat(second.text()).isEqualTo(first.text());
    assertThat(second.response().headers().map().keySet())
        .isEqualTo(first.response().headers().map().keySet());
    assertThat(gateway.submit(naming("bob", "bobs", DIGEST, SECRET.length)).status())
        .isEqualTo(200);
    assertThat(read("bob", "/v1/blobs/" + DIGEST)).isEqualTo(200);
    byte[] wrong = "not what its name says".getBytes(StandardCharsets.UTF_8);
    Digest name = Digest.sha256("something else".getBytes(StandardCharsets.UTF_8));
    Reply other =
        gateway.send(
            gateway
                .as("bob", "/v1/blobs/" + name)
                .PUT(HttpRequest.BodyPublishers.ofByteArray(wrong)));
    assertThat(other.string("code")).isEqualTo("GWY-032");
    assertThat(read("bob", "/v1/blobs/" + name)).isEqualTo(404); // the name alone stored nothing
  }

  @Test
  void what_came_of_an_effect_is_its_subjects() {
    byte[] output =
        Jcs.write(Jcs.parse("{\"ok\":true,\"of\":\"alice\"}".getBytes(StandardCharsets.UTF_8)));
    gateway.home.driver.does("mail", Behaviours.gives(output, Behaviours.JSON));
    Reply served = gateway.submit(gateway.home.ask("alice").run("hers").tool("mail").sign());
    Digest receipt = Digest.parse(served.string("receipt_id"));
    Digest digest = Digest.sha256(output);
    assertThat(gateway.submit(naming("bob", "bobs", digest, output.length)).string("code"))
        .isEqualTo("EXE-306");
    assertThat(read("bob", "/v1/blobs/" + digest + "?of=" + receipt)).isEqualTo(404);
    Envelope consuming = gateway.home.ask("bob").run("bobs").tool("mail").consumes(receipt).sign();
    Reply consumed = gateway.submit(consuming);
    assertThat(consumed.string("code")).isEqualTo("EXE-307");
    Envelope unknown =
        gateway
            .home
            .ask("bob")
            .run("bobs")
            .tool("mail")
            .consumes(Digest.sha256(new byte[] {9}))
            .sign();
    assertThat(gateway.submit(unknown).status()).isEqualTo(consumed.status());
    assertThat(gateway.submit(naming("alice", "hers", digest, output.length)).status())
        .isEqualTo(200);
    assertThat(
            gateway
                .submit(
                    gateway.home.ask("alice").run("other").tool("mail").consumes(receipt).sign())
                .status())
        .isEqualTo(200);
    assertThat(
            gateway
                .submit(
                    gateway.home.ask("deputy").tool("mail").run("third").consumes(receipt).sign())
                .status())
        .isEqualTo(200); // in a role of execute_for
  }

  @Test
  void what_the_installation_put_is_the_whole_tenants() {
    gateway.home.kernel().contents().put("acme", new ByteArrayInputStream(SECRET), "text/plain");
    assertThat(gateway.submit(naming("bob", "bobs", DIGEST, SECRET.length)).status())
        .isEqualTo(200);
    assertThat(read("eve", "/v1/blobs/" + DIGEST)).isEqualTo(404);
  }
}
