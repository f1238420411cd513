package dev.writ.kube.testing;

import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.util.Map;
import java.util.Optional;

/** What clients ask for before they ask for pods; the API server of the mock does not tell it. */
final class Discovery {
  private static final Map<String, String> ANSWERS =
      Map.of(
          "/version",
          "{\"major\":\"1\",\"minor\":\"31\",\"gitVersion\":\"v1.31.0\"}",
          "/api",
          "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}",
          "/apis",
          """
          {"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"networking.k8s.io",
          "versions":[{"groupVersion":"networking.k8s.io/v1","version":"v1"}],
          "preferredVersion":{"groupVersion":"networking.k8s.io/v1","version":"v1"}}]}\
          """,
          "/api/v1",
          """
          {"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods",
          "singularName":"pod","namespaced":true,"kind":"Pod","shortNames":["po"],
          "verbs":["create","delete","get","list","watch"]}]}\
          """,
          "/apis/networking.k8s.io/v1",
          """
          {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"networking.k8s.io/v1",
          "resources":[{"name":"networkpolicies","singularName":"networkpolicy",
          "namespaced":true,"kind":"NetworkPolicy","shortNames":["netpol"],
          "verbs":["create","delete","get","list","update","watch"]}]}\
          """);

  Optional<MockResponse> answer(RecordedRequest request) {
    return Optional.ofNullable(ANSWERS.get(request.getPath().replaceAll("\\?.*", "")))
        .map(json ->
            new MockResponse()
                .setResponseCode(200)
                .setBody(json)
                .setHeader("Content-Type", "application/json"));
  }
}
