/** Guardian and executor in processes of their own: how they reach each other (spec/apart.md). */
package dev.writ.gateway.apart;
