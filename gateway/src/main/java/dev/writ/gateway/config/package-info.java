/** The file that configures a server (spec/gateway.md, Configuration). */
package dev.writ.gateway.config;
