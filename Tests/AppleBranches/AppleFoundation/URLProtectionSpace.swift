// On Linux these are marked as unavailable.
package let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
package let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
