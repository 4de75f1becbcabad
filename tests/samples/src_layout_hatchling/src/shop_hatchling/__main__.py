def main():
    print("shop is open")


if __name__ == "__main__":
    main()
