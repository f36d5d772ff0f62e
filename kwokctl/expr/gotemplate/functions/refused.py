"""The functions of Sprig that are refused, and why.

The result of a template is written to the cluster, and must depend only on template and object.
"""

_ENVIRONMENT = "it reads the environment of the controller"
_NETWORK = "it asks the network"
_KEYS = "it makes keys or certificates"
_PASSWORDS = "it works with passwords"

REFUSED = {
    **dict.fromkeys(("env", "expandenv"), _ENVIRONMENT),
    "getHostByName": _NETWORK,
    **dict.fromkeys(
        ("buildCustomCert", "genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert",
         "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey"),
        _KEYS,
    ),
    **dict.fromkeys(
        ("bcrypt", "decryptAES", "derivePassword", "encryptAES", "htpasswd"), _PASSWORDS
    ),
}  # fmt: skip
"""The reasons by name."""
