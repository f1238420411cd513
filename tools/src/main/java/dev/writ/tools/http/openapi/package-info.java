/** Makes packages of the driver {@code http} from OpenAPI documents. */
package dev.writ.tools.http.openapi;
