/**
 * Who calls: tokens, client certificates, browser sessions, the organization's sign-in
 * (spec/gateway.md).
 */
package dev.writ.gateway.http.auth;
