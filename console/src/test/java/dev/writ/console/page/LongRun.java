package dev.writ.console.page;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;

/** A run of many effects, told in place of what the server has. */
final class LongRun {
  private LongRun() {}

  /**
   * @param told an answer with one effect, which is repeated
   */
  static void serve(Page page, String told, int effects) {
    String row = told.replaceFirst("^.*?\\[(\\{.*?})].*$", "$1");
    page.route(
        "**/v1/effects?*",
        route -> {
          StringBuilder rows = new StringBuilder();
          for (int i = 0; i < effects; i++) {
            rows.append(i == 0 ? "" : ",")
                .append(
                    row.replaceFirst("\"request_id\":\"[^\"]*\"", "\"request_id\":\"r" + i + "\""));
          }
          route.fulfill(
              new Route.FulfillOptions()
                  .setContentType("application/json")
                  .setBody("{\"effects\":[" + rows + "],\"searched\":{},\"complete\":true}"));
        });
  }
}
